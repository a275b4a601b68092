// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SlotHoldersTest {
  private final SlotHolders holders = new SlotHolders();

  private static final class Queue extends SlotHolder {
    Queue(int tag) {
      tag(tag);
    }

    @Override
    long free(boolean receive, int sequence, int queuePair) {
      return 0;
    }

    @Override
    void failed() {
      throw new AssertionError("no completion here");
    }
  }

  private Queue add() {
    Queue queue = new Queue(holders.reserve());
    holders.put(queue);
    return queue;
  }

  @Test
  void findsEachOfMany() {
    Queue[] queues = new Queue[300];
    for (int i = 0; i < queues.length; i++) {
      queues[i] = add();
    }
    for (Queue queue : queues) {
      assertThat(holders.find(queue.tag())).isSameAs(queue);
    }
  }

  @Test
  void findsNoneThatWasRemovedAlsoWhenItsPlaceIsTakenAgain() {
    Set<Integer> old = new HashSet<>();
    for (int i = 0; i < 1000; i++) {
      Queue queue = add();
      assertThat(old.add(queue.tag())).as("tag %d", queue.tag()).isTrue();
      holders.remove(queue.tag());
      assertThat(holders.find(queue.tag())).isNull();
    }
    Queue last = add();
    assertThat(old).doesNotContain(last.tag());
    old.forEach(tag -> assertThat(holders.find(tag)).isNull());
  }

  @Test
  void findsOneThatIsRenewedByItsNewTagOnly() {
    Queue queue = add();
    int before = queue.tag();

    queue.tag(holders.renew(before));

    assertThat(holders.find(before)).isNull();
    assertThat(holders.find(queue.tag())).isSameAs(queue);
    holders.remove(queue.tag());
    assertThat(holders.find(queue.tag())).isNull();
  }

  @Test
  void carriesAllThroughACookie() {
    Queue queue = add();
    for (int sequence : new int[] {0, 1, Integer.MAX_VALUE, Integer.MIN_VALUE, -1}) {
      long send = Cookie.send(queue.tag(), sequence);
      long receive = Cookie.receive(queue.tag(), sequence);
      assertThat(Cookie.tagOf(send)).isEqualTo(queue.tag()).isEqualTo(Cookie.tagOf(receive));
      assertThat(Cookie.sequence(send)).isEqualTo(sequence).isEqualTo(Cookie.sequence(receive));
      assertThat(Cookie.isReceive(send)).isFalse();
      assertThat(Cookie.isReceive(receive)).isTrue();
    }
  }
}
