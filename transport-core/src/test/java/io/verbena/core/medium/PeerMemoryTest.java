// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.medium;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the memory of the choices that reached a peer. */
@Tag("once")
class PeerMemoryTest {
  private static final long LONG = TimeUnit.HOURS.toNanos(1);

  private final PeerMemory<Integer, String> memory = new PeerMemory<>();

  @Test
  void aChoiceIsNewsOnce() {
    assertThat(memory.put(1, "tcp", LONG)).isTrue();
    assertThat(memory.put(1, "tcp", LONG)).isFalse();
    assertThat(memory.put(1, "rdma", LONG)).isTrue();

    assertThat(memory.get(1)).isEqualTo("rdma");
  }

  @Test
  void aChoiceAges() {
    memory.put(1, "tcp", LONG);

    assertThat(memory.get(1, LONG)).isEqualTo("tcp");
    assertThat(memory.get(1, 0)).isNull();
    assertThat(memory.get(1)).isEqualTo("tcp");
  }

  @Test
  void onlyWhatIsStillSoIsDropped() {
    memory.put(1, "rdma", LONG);

    memory.remove(1, "tcp");
    assertThat(memory.get(1)).isEqualTo("rdma");
    memory.remove(1, "rdma");
    assertThat(memory.get(1)).isNull();
  }

  @Test
  void keepsTheLatest() {
    for (int peer = 0; peer < 2000; peer++) {
      memory.put(peer, "tcp", LONG);
    }

    assertThat(memory.get(0)).isNull();
    assertThat(memory.get(1999)).isEqualTo("tcp");
    assertThat(memory.get(2000 - 1024)).isEqualTo("tcp");
    assertThat(memory.get(2000 - 1025)).isNull();
  }
}
