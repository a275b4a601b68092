// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.ReplyQueue.Kind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplyQueueTest {
  private static final int ACK = 0x1f;

  private final ReplyQueue queue = new ReplyQueue();

  @BeforeEach
  void makeRoom() {
    queue.reset(2);
  }

  private List<String> drain() {
    List<String> all = new ArrayList<>();
    while (!queue.isEmpty()) {
      all.add(queue.first().kind + " " + queue.first().psn);
      queue.remove();
    }
    return all;
  }

  @Test
  void makesOneOfAcknowledgementsThatFollowEachOther() {
    queue.acknowledge(5, ACK, 1);
    queue.acknowledge(6, ACK, 2);

    assertThat(queue.first().messageSequence).isEqualTo(2);
    assertThat(drain()).containsExactly("ACK 6");
  }

  @Test
  void keepsTheLaterPsnWhenADuplicateIsAcknowledged() {
    queue.acknowledge(6, ACK, 2);
    queue.acknowledge(5, ACK, 2);

    assertThat(drain()).containsExactly("ACK 6");
  }

  @Test
  void takesThePsnBehindTheEndForTheLater() {
    queue.acknowledge(0xff_ffff, ACK, 2);
    queue.acknowledge(0, ACK, 3);

    assertThat(drain()).containsExactly("ACK 0");
  }

  @Test
  void letsNoAcknowledgementPassAnotherAnswer() {
    queue.acknowledge(5, ACK, 1);
    queue.add(Kind.READ, 6, ACK, 2);
    queue.acknowledge(7, ACK, 3);
    queue.add(Kind.NAK, 8, 0x60, 3);
    queue.acknowledge(8, ACK, 4);

    assertThat(drain()).containsExactly("ACK 5", "READ 6", "ACK 7", "NAK 8", "ACK 8");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 16})
  void keepsWhatIsOwedWithAnotherCapacity(int readsAndAtomics) {
    for (int i = 0; i < 7; i++) {
      queue.add(Kind.READ, i, ACK, 0);
    }
    for (int i = 0; i < 5; i++) {
      queue.remove();
    }
    for (int i = 7; !queue.isFull(); i++) {
      queue.add(Kind.READ, i, ACK, 0);
    }

    queue.resize(readsAndAtomics);

    assertThat(drain()).hasSize(12).startsWith("READ 5", "READ 6").endsWith("READ 16");
  }

  @Test
  void isFullInTheEndAndEmptyAgainLater() {
    int added = 0;
    while (!queue.isFull()) {
      queue.add(Kind.READ, added++, ACK, 0);
    }

    assertThat(added).isEqualTo(12);
    assertThat(drain()).hasSize(added).endsWith("READ 11");
    assertThat(queue.isFull()).isFalse();
  }
}
