// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.disni.SharedSlots.Taker;
import org.junit.jupiter.api.Test;

class SharedSlotsTest {
  private static final int CAPACITY = 4;
  private static final int ONE = 17;
  private static final int TWO = 9;

  private final SharedSlots slots = new SharedSlots(CAPACITY);

  private int post(long id) {
    assertThat(slots.isFull()).isFalse();
    return slots.take(id);
  }

  /** Posts until the queue is full, with ids from this one on; returns the slots. */
  private int[] fill(long id) {
    int[] taken = new int[CAPACITY];
    for (int i = 0; i < CAPACITY; i++) {
      taken[i] = post(id + i);
    }
    assertThat(slots.isFull()).isTrue();
    return taken;
  }

  @Test
  void answersTheIdsInWhateverOrderTheyComplete() {
    slots.join(ONE, false);
    int[] taken = fill(100);

    assertThat(slots.free(taken[2], ONE)).isEqualTo(102);
    assertThat(slots.free(taken[0], ONE)).isEqualTo(100);

    assertThat(slots.isFull()).isFalse();
  }

  @Test
  void givesBackWhatWasNotPosted() {
    Taker one = slots.join(ONE, false);
    int first = post(0);
    post(1);
    post(2);

    assertThat(slots.giveBack(2)).isEqualTo(1);

    post(3);
    post(4);
    post(5);
    assertThat(slots.isFull()).isTrue();
    assertThat(slots.free(first, ONE)).isZero();
    slots.leave(one);
    assertThat(slots.isFull()).as("one is free, and the others are not").isFalse();
    post(6);
    assertThat(slots.isFull()).isTrue();
  }

  @Test
  void freesWhatADestroyedQueuePairHadTakenOnceTheOthersHaveNewerOnes() {
    Taker one = slots.join(ONE, false);
    slots.join(TWO, false);
    int[] taken = fill(0);
    // Queue pair one takes the first receive and is destroyed; two takes the second.
    slots.leave(one);
    slots.free(taken[1], TWO);
    post(4);

    assertThat(slots.isFull()).as("all four are posted, but for the first").isFalse();
    post(5);
    assertThat(slots.isFull()).isTrue();
  }

  @Test
  void freesWhatAQueuePairHadTakenThatWasReset() {
    Taker one = slots.join(ONE, false);
    slots.join(TWO, false);
    int[] taken = fill(0);
    slots.free(taken[1], TWO);
    // Queue pair one had taken the first receive.
    slots.emptied(one);
    post(4);

    assertThat(slots.isFull()).isFalse();
  }

  @Test
  void keepsWhatOneThatIsThereMayHave() {
    Taker one = slots.join(ONE, false);
    slots.join(TWO, false);
    int[] taken = fill(0);
    slots.free(taken[1], ONE);
    slots.leave(one);
    post(4);

    assertThat(slots.isFull()).as("two may have taken the first").isTrue();
    slots.free(taken[0], TWO);
    assertThat(slots.isFull()).isFalse();
  }

  @Test
  void keepsWhatIsNotKnownToBeTaken() {
    Taker one = slots.join(ONE, false);
    fill(0);
    slots.leave(one);

    assertThat(slots.isFull()).as("one may have taken none").isTrue();
  }

  @Test
  void asksNothingOfOneThatCameLater() {
    Taker one = slots.join(ONE, false);
    int[] taken = fill(0);
    slots.free(taken[1], ONE);
    post(4);
    slots.leave(one);
    slots.join(TWO, false);

    assertThat(slots.isFull()).as("the first was taken by one, which is gone").isFalse();
  }

  @Test
  void freesNothingTwice() {
    Taker one = slots.join(ONE, false);
    int[] taken = fill(0);
    slots.free(taken[1], ONE);
    post(4);
    slots.leave(one);
    assertThat(slots.isFull()).isFalse();

    slots.free(taken[0], ONE);

    post(5);
    assertThat(slots.isFull()).isTrue();
  }

  @Test
  void knowWhichOfTheirQueuePairsAreOfDatagrams() {
    Taker datagrams = slots.join(ONE, true);
    slots.join(TWO, false);

    assertThat(slots.takesDatagrams(ONE)).isTrue();
    assertThat(slots.takesDatagrams(TWO)).isFalse();

    slots.leave(datagrams);

    assertThat(slots.takesDatagrams(ONE)).isFalse();
  }
}
