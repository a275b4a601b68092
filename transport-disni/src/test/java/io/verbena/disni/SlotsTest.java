// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SlotsTest {
  private final Slots slots = new Slots(3);

  @Test
  void isFullAfterAsManyAsItHolds() {
    for (int i = 0; i < 3; i++) {
      assertThat(slots.isFull()).isFalse();
      slots.take(i);
    }

    assertThat(slots.isFull()).isTrue();
  }

  @Test
  void answersTheIdOfEach() {
    int first = slots.take(70);
    int second = slots.take(71);

    assertThat(slots.free(first)).isEqualTo(70);
    assertThat(slots.free(second)).isEqualTo(71);
  }

  @Test
  void freesThoseBeforeToo() {
    slots.take(70);
    slots.take(71);
    int third = slots.take(72);

    assertThat(slots.free(third)).isEqualTo(72);

    for (int i = 0; i < 3; i++) {
      assertThat(slots.isFull()).isFalse();
      slots.take(i);
    }
    assertThat(slots.isFull()).isTrue();
  }

  @Test
  void holdsWhatIsGivenBackNoMore() {
    slots.take(70);
    slots.take(71);
    slots.take(72);

    assertThat(slots.giveBack(2)).isEqualTo(71);

    assertThat(slots.isFull()).isFalse();
    int again = slots.take(80);
    assertThat(slots.free(again)).isEqualTo(80);
  }

  @Test
  void isEmptyAfterItWasCleared() {
    slots.take(70);
    slots.take(71);
    slots.take(72);

    slots.clear();

    assertThat(slots.isFull()).isFalse();
    assertThat(slots.free(slots.take(80))).isEqualTo(80);
  }

  @Test
  void neverHoldsAnythingWithoutCapacity() {
    assertThat(new Slots(0).isFull()).isTrue();
  }

  @Test
  void countsOnFarBeyondItsSize() {
    for (long id = 0; id < 1000; id++) {
      slots.take(id);
      int last = slots.take(-id);
      assertThat(slots.free(last)).isEqualTo(-id);
    }
    assertThat(slots.isFull()).isFalse();
  }
}
