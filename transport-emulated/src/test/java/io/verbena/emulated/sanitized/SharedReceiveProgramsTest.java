// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitized;

import static io.verbena.emulated.sanitizer.Finding.Kind.MEMORY_CLOSED_WHILE_POSTED;
import static io.verbena.emulated.sanitizer.Finding.Kind.QUEUE_OVERFILLED;
import static io.verbena.emulated.sanitizer.Finding.Kind.RECEIVE_BUFFER_WRITTEN;
import static io.verbena.emulated.sanitizer.Finding.Kind.SEND_WITHOUT_RECEIVE;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.WorkCompletion;
import org.junit.jupiter.api.Test;

/** The sanitizer watches receives of shared receive queues like any others. */
class SharedReceiveProgramsTest extends ProgramTests {

  private interface SharedProgram {
    void run(End client, End server, SharedReceiveQueue receives);
  }

  private static void runShared(SharedProgram program) {
    try (End client = new End(64, 4, 4);
        End server = new End(64, 4, 4, true)) {
      client.connect(server, 7);
      server.connect(client, 7);
      program.run(client, server, requireNonNull(server.sharedReceives));
    }
  }

  @Test
  void findsAWriteToAPostedReceive() {
    runShared(SharedReceiveProgramsTest::writesToAPostedReceive);
    assertFound(RECEIVE_BUFFER_WRITTEN, "writesToAPostedReceive");
  }

  private static void writesToAPostedReceive(End client, End server, SharedReceiveQueue receives) {
    Memory into = server.memory(32, LOCAL_WRITE);
    receives.postReceive(into.receive(1));
    into.bytes().put(31, (byte) 1);
    client.queuePair.postSend(client.memory(16).fill(1).send(2).signaled());
    End.take(client.sends);
    End.take(server.receives);
  }

  @Test
  void findsASendToAnEmptyQueue() {
    runShared(SharedReceiveProgramsTest::sendsToNobody);
    assertFound(SEND_WITHOUT_RECEIVE, "sendsToNobody");
  }

  private static void sendsToNobody(End client, End server, SharedReceiveQueue receives) {
    Memory into = server.memory(32, LOCAL_WRITE);
    client.queuePair.postSend(client.memory(32).send(2).signaled());
    receives.postReceive(into.receive(1));
    End.take(client.sends);
    End.take(server.receives);
  }

  @Test
  void findsARegionThatIsClosedWhileItIsPosted() {
    runShared(SharedReceiveProgramsTest::closesWhatItPosted);
    assertFound(MEMORY_CLOSED_WHILE_POSTED, "closesWhatItPosted");
  }

  private static void closesWhatItPosted(End client, End server, SharedReceiveQueue receives) {
    Memory into = server.memory(32, LOCAL_WRITE);
    receives.postReceive(into.receive(1));
    into.region().close();
  }

  @Test
  void findsAPostToAFullQueue() {
    runShared(SharedReceiveProgramsTest::postsTooMany);
    assertFound(QUEUE_OVERFILLED, "postsTooMany");
  }

  private static void postsTooMany(End client, End server, SharedReceiveQueue receives) {
    Memory into = server.memory(8, LOCAL_WRITE);
    int most = receives.maxWorkRequests();
    ReceiveWorkRequest receive = into.receive(5);
    for (int i = 0; i < most; i++) {
      postsOne(receives, receive);
    }
    assertThatThrownBy(() -> postsTooMany(receives, receive))
        .isInstanceOfSatisfying(
            PostException.class, e -> assertThat(e.workRequestId()).isEqualTo(5));
  }

  private static void postsOne(SharedReceiveQueue receives, ReceiveWorkRequest receive) {
    receives.postReceive(receive);
  }

  private static void postsTooMany(SharedReceiveQueue receives, ReceiveWorkRequest receive) {
    receives.postReceive(receive);
  }

  @Test
  void isSilentWhereAllIsRight() {
    runShared(
        (client, server, receives) -> {
          Memory into = server.memory(32, LOCAL_WRITE);
          Memory message = client.memory(16).fill(1);
          for (int i = 0; i < 8; i++) {
            receives.postReceive(into.receive(1));
            client.queuePair.postSend(message.send(2).signaled());
            End.take(client.sends);
            assertThat(End.take(server.receives).workRequestId()).isEqualTo(1);
            assertThat(into.bytes().slice(0, 16)).isEqualTo(message.bytes());
          }
        });
    assertSilent();
  }

  @Test
  void showsWhatCameBeforeTheQueueWasClosedAndIsPolledAfterThat() {
    runShared(
        (client, server, receives) -> {
          CompletionQueue elsewhere = server.device.createCompletionQueue(4, null);
          QueuePair another =
              server.domain.createQueuePair(
                  QueuePairOptions.reliable(elsewhere, elsewhere, 1, 1)
                      .withSharedReceiveQueue(receives));
          Memory into = server.memory(32, LOCAL_WRITE);
          Memory message = client.memory(16).fill(1);
          receives.postReceive(into.receive(1));
          receives.postReceive(server.memory(32, LOCAL_WRITE).receive(2));
          client.queuePair.postSend(message.send(3).signaled());
          End.take(client.sends);
          another.close();
          server.queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
          server.queuePair.close();
          receives.close();
          WorkCompletion[] one = WorkCompletion.array(1);

          assertThat(elsewhere.poll(one)).isZero();
          assertThat(End.take(server.receives).workRequestId()).isEqualTo(1);
          assertThat(into.bytes().slice(0, 16)).isEqualTo(message.bytes());
          assertThat(server.receives.poll(one)).isZero();
          elsewhere.close();
        });
    assertSilent();
  }
}
