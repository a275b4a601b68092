// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.pingpong;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.tools.end.CompletionWait;
import io.verbena.tools.end.End;
import io.verbena.tools.end.ToolFailure;
import io.verbena.tools.end.UnmanagedQueuePair;
import io.verbena.verbs.Access;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.RepeatedTest;

class LostPeerTest {
  private static final int SIZE = 64;
  private static final int DEPTH = 4;

  /** A timeout so short that it may expire at any poll. */
  private static final int TIMEOUT = 8;

  private static End open() {
    // Any UDP port, as another JVM with this address may use RoCEv2's own.
    URI hca = URI.create("roce://127.0.0.1?udp-port=0");
    return End.open(hca, 2 * SIZE, Set.of(Access.LOCAL_WRITE), 2, DEPTH + 1, false);
  }

  private static UnmanagedQueuePair pair(End end) {
    return UnmanagedQueuePair.create(end, QueuePairType.RC, 1, DEPTH, 0, 0, Set.of());
  }

  /** The failed request completes in one queue, and the receives flushed by it in another. */
  @RepeatedTest(20)
  void isToldOfAndNotTheReceivesThatWereFlushedForIt() {
    try (End end = open()) {
      UnmanagedQueuePair pair = pair(end);
      try (End gone = open()) {
        pair.connect(pair(gone).here(), Mtu.MTU_1024, TIMEOUT, 1, 1);
      }
      Pingpong client =
          new Pingpong(
              end, List.of(pair), SIZE, 0, DEPTH, new CompletionWait(end, Duration.ofSeconds(30)));
      client.prepare(true, false);

      assertThatThrownBy(() -> client.play(1))
          .isInstanceOf(ToolFailure.class)
          .hasMessageStartingWith("Failed status RETRY_EXC_ERR (12) for wr_id 2");
    }
  }
}
