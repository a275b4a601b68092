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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests the validation of messages. Both ends post in the test's thread, and a posted request is
 * done at once.
 */
class ValidationTest {
  private static final URI HCA = URI.create("emulated://validation");
  private static final int SIZE = 10_000;
  private static final int DEPTH = 4;

  private final End one = open();
  private final End other = open();
  private final UnmanagedQueuePair ofOne = pair(one);
  private final UnmanagedQueuePair ofOther = pair(other);

  private static End open() {
    return End.open(HCA, 2 * SIZE, Set.of(Access.LOCAL_WRITE), 2, DEPTH + 1, false);
  }

  private static UnmanagedQueuePair pair(End end) {
    return UnmanagedQueuePair.create(end, QueuePairType.RC, 1, DEPTH, 0, 0, Set.of());
  }

  @BeforeEach
  void connect() {
    ofOne.connect(ofOther.here(), Mtu.MTU_1024, 14, 1, 1);
    ofOther.connect(ofOne.here(), Mtu.MTU_1024, 14, 1, 1);
  }

  @AfterEach
  void close() {
    one.close();
    other.close();
  }

  private static Pingpong pingpong(End end, UnmanagedQueuePair pair) {
    return new Pingpong(
        end, List.of(pair), SIZE, 0, DEPTH, new CompletionWait(end, Duration.ofMillis(100)));
  }

  @Test
  void theClientFailsForEveryByteThatDoesNotComeBackAsItWasSent() {
    Pingpong client = pingpong(one, ofOne);
    client.prepare(true, true);
    Pingpong stranger = pingpong(other, ofOther);
    stranger.prepare(true, true);
    other.memory().put(9000, (byte) 9);
    // The client gives up, as its peer does not answer.
    assertThatThrownBy(() -> stranger.play(1)).isInstanceOf(ToolFailure.class);

    assertThatThrownBy(() -> client.play(1))
        .isInstanceOf(ToolFailure.class)
        .hasMessage("invalid data in page 2, byte 9000 of message 0: 9 (expected: 123, as sent)");
  }

  @Test
  void theServerFailsForAPageWithoutItsMark() {
    Pingpong server = pingpong(one, ofOne);
    server.prepare(false, true);
    Pingpong client = pingpong(other, ofOther);
    client.prepare(true, false);
    assertThatThrownBy(() -> client.play(1)).isInstanceOf(ToolFailure.class);

    assertThatThrownBy(() -> server.play(1))
        .isInstanceOf(ToolFailure.class)
        .hasMessage("invalid data in page 0, byte 0 of message 0: 123 (expected: 0, as mark)");
  }

  @Test
  void whatNobodyChecksMayBeAnything() throws ToolFailure, InterruptedException {
    Pingpong server = pingpong(one, ofOne);
    server.prepare(false, false);
    Pingpong client = pingpong(other, ofOther);
    client.prepare(true, false);
    assertThatThrownBy(() -> client.play(1)).isInstanceOf(ToolFailure.class);

    server.play(1);
  }
}
