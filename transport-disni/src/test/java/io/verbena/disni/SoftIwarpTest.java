// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the work that Soft-iWARP leaves to its users. */
@Tag(FakeRdmaCore.TAG)
final class SoftIwarpTest {
  private static final String SIW = "10.0.7.1:0";

  @BeforeAll
  static void needsTheFake() {
    FakeRdmaCore.assumeLoaded();
  }

  @Test
  void knowsTheStateThatTheDriverDoesNotTell() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri(SIW), "", false)) {
      assertThat(link.client.state()).isEqualTo(QueuePairState.RTS);
      assertThat(link.client.query().state()).isEqualTo(QueuePairState.RTS);

      link.active.disconnect();

      assertThat(link.client.state()).isEqualTo(QueuePairState.ERR);
    }
  }

  @Test
  void flushesWhatIsPostedInErrorBehindWhatTheDriverFlushes() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri(SIW), "", false)) {
      postReceive(link.server, 1);
      postReceive(link.server, 2);
      link.passive.disconnect();

      postReceive(link.server, 3);
      link.server.postSend(new SendWorkRequest().id(4).write(0, 0).signaled());
      link.server.postSend(new SendWorkRequest().id(5).write(0, 0));

      for (long id = 1; id <= 5; id++) {
        assertFlushed(link.complete(), id);
      }
      assertThat(link.completions.poll(WorkCompletion.array(1))).isZero();
    }
  }

  @Test
  void flushesWhatWasPostedBeforeItHeardThatTheConnectionHadEnded() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri(SIW), "", false)) {
      postReceive(link.server, 1);
      link.active.disconnect();
      postReceive(link.server, 2);
      link.server.postSend(new SendWorkRequest().id(3).write(0, 0).signaled());

      link.expect(ConnectionEvent.Type.DISCONNECTED);

      assertFlushed(link.complete(), 1);
      // Completions of the send and the receive queue have no order.
      assertFlushed(link.complete(), 3);
      assertFlushed(link.complete(), 2);
    }
  }

  @Test
  void fencesWhatWouldCompleteBeforeAReadThatWasPostedEarlier() {
    SendBatch ofSiw = new SendBatch(1, 0, DeviceQuirks.of(0x62_6d74, 1));
    SendBatch ofOthers = new SendBatch(1, 0, DeviceQuirks.of(0x8086, 1));
    int asked = SendWorkRequest.SIGNALED;

    assertThat(ofSiw.flags(new SendWorkRequest(1).send().signaled()))
        .isEqualTo(asked | SendWorkRequest.FENCE);
    assertThat(ofSiw.flags(new SendWorkRequest(1).write(0, 0).signaled()))
        .isEqualTo(asked | SendWorkRequest.FENCE);
    assertThat(ofOthers.flags(new SendWorkRequest(1).send().signaled())).isEqualTo(asked);
    // The driver rejects a fence on a READ; READs start in order anyway.
    assertThat(ofSiw.flags(new SendWorkRequest(1).read(0, 0).signaled().fence())).isEqualTo(asked);
  }

  private static void postReceive(QueuePair pair, long id) {
    pair.postReceive(new ReceiveWorkRequest().id(id));
  }

  private static void assertFlushed(WorkCompletion completion, long id) {
    assertThat(completion.status()).as("%s", completion).isEqualTo(CompletionStatus.WR_FLUSH_ERR);
    assertThat(completion.workRequestId()).isEqualTo(id);
  }
}
