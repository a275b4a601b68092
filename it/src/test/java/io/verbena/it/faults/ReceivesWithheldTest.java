// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Fill;
import io.verbena.it.node.Link;
import io.verbena.it.node.Side;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests a SEND for which the peer has no receive. The connection manager sets a timer of 655 ms
 * between the attempts (code 0 of min_rnr_timer).
 */
@Tag("once")
@InSoftRoceGuest(nodes = 2)
class ReceivesWithheldTest extends FaultTests {
  private static final int LENGTH = 4096;
  private static final Duration WITHHELD = Duration.ofSeconds(10);

  @Test
  void waitsForThemWithoutEndIfToldSo() throws Exception {
    try (var link = Link.open(LENGTH, retry(7))) {
      Side client = link.client();
      Fill.write(client.memory(), 0, 1, LENGTH);
      client.post(link.clientPair(), new SendWorkRequest().send().id(1), 0, LENGTH);
      WorkCompletion[] none = WorkCompletion.array(1);
      await("no completion")
          .pollInSameThread()
          .during(WITHHELD)
          .atMost(WITHHELD.multipliedBy(2))
          .until(() -> client.queue().poll(none) == 0);
      link.server().receive(link.serverPair(), 2, 0, LENGTH);
      assertThat(link.server().success().byteLength()).isEqualTo(LENGTH);
      Fill.check(link.server().memory(), 0, 1, LENGTH);
      assertThat(client.success().workRequestId()).isEqualTo(1);
    }
  }

  @Test
  void endsWhenTheRetriesAreUsedUp() throws Exception {
    try (var link = Link.open(LENGTH, retry(1))) {
      Side client = link.client();
      for (int id = 1; id <= 3; id++) {
        client.post(link.clientPair(), new SendWorkRequest().send().id(id), 0, LENGTH);
      }
      WorkCompletion first = client.completion();
      assertThat(first.workRequestId()).isEqualTo(1);
      assertThat(first.status()).isEqualTo(CompletionStatus.RNR_RETRY_EXC_ERR);
      for (int id = 2; id <= 3; id++) {
        WorkCompletion flushed = client.completion();
        assertThat(flushed.workRequestId()).isEqualTo(id);
        assertThat(flushed.status()).isEqualTo(CompletionStatus.WR_FLUSH_ERR);
      }
    }
  }

  private static ConnectionParameters retry(int rnr) {
    return new ConnectionParameters(ByteBuffer.allocate(0), 4, 4, 7, rnr);
  }
}
