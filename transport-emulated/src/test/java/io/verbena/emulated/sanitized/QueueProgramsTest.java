// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitized;

import static io.verbena.emulated.sanitizer.Finding.Kind.COMPLETION_NEVER_POLLED;
import static io.verbena.emulated.sanitizer.Finding.Kind.COMPLETION_QUEUE_TOO_SMALL;
import static io.verbena.emulated.sanitizer.Finding.Kind.QUEUE_OVERFILLED;
import static io.verbena.emulated.sanitizer.Finding.Kind.RECEIVE_NEVER_REPOSTED;
import static io.verbena.emulated.sanitizer.Finding.Kind.SEND_QUEUE_UNSIGNALED;
import static io.verbena.emulated.sanitizer.Finding.Kind.SEND_WITHOUT_RECEIVE;
import static io.verbena.emulated.sanitizer.Finding.Kind.UNKNOWN_COMPLETION;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;

import io.verbena.emulated.sanitizer.Finding;
import io.verbena.emulated.sanitizer.Sanitizer;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Device;
import io.verbena.verbs.PostException;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The sanitizer counts slots, credits and completions. */
class QueueProgramsTest extends ProgramTests {

  @Test
  void findsASendThatHasNoReceive() {
    run(QueueProgramsTest::sendsWithoutCredit);
    assertFound(SEND_WITHOUT_RECEIVE, "sendsWithoutCredit");
  }

  private static void sendsWithoutCredit(End client, End server) {
    Memory into = server.memory(32, LOCAL_WRITE);
    client.queuePair.postSend(client.memory(32).send(2).signaled());
    receives(server, into);
    assertThat(End.take(client.sends).isSuccess()).isTrue();
    End.take(server.receives);
  }

  private static void receives(End end, Memory into) {
    end.queuePair.postReceive(into.receive(1));
  }

  @Test
  void isSilentWhereEachSendHasAReceive() {
    run(
        (client, server) -> {
          Memory into = server.memory(32, LOCAL_WRITE);
          Memory message = client.memory(32);
          for (int i = 0; i < 3; i++) {
            receives(server, into);
            client.queuePair.postSend(message.send(2).signaled());
            End.take(client.sends);
            End.take(server.receives);
          }
        });
    assertSilent();
  }

  @Test
  void findsReceivesThatAreNeverPostedAgain() {
    try (End client = new End(64, 16, 16);
        End server = new End(64, 16, 16)) {
      client.connect(server, 1);
      server.connect(client, 1);
      starves(client, server);
    }
    assertThat(found())
        .extracting(Finding::kind, finding -> finding.place().getMethodName())
        .containsExactly(
            tuple(SEND_WITHOUT_RECEIVE, "starves"), tuple(RECEIVE_NEVER_REPOSTED, "receives"));
  }

  private static void starves(End client, End server) {
    receives(server, server.memory(32, LOCAL_WRITE));
    SendWorkRequest send = client.memory(32).send(2).signaled();
    client.queuePair.postSend(send);
    End.take(client.sends);
    End.take(server.receives);
    client.queuePair.postSend(send);
    assertThat(End.take(client.sends).status()).isEqualTo(CompletionStatus.RNR_RETRY_EXC_ERR);
  }

  @Test
  void findsACompletionQueueThatIsTooSmall() {
    run(1, 4, QueueProgramsTest::overruns);
    assertFound(COMPLETION_QUEUE_TOO_SMALL, "overruns");
  }

  private static void overruns(End client, End server) {
    Memory into = server.memory(32, LOCAL_WRITE);
    server.queuePair.postReceive(into.receive(1));
    server.queuePair.postReceive(into.receive(2));
  }

  @Test
  void isSilentWhereACompletionQueueHoldsAllThatIsPosted() {
    run(
        2,
        4,
        (client, server) -> {
          Memory into = server.memory(32, LOCAL_WRITE);
          server.queuePair.postReceive(into.receive(1));
          server.queuePair.postReceive(into.receive(2));
        });
    assertSilent();
  }

  @Test
  void findsASendQueueFullOfUnsignaledRequests() {
    run(64, 2, QueueProgramsTest::neverSignals);
    assertFound(SEND_QUEUE_UNSIGNALED, "neverSignals");
  }

  private static void neverSignals(End client, End server) {
    Memory into = server.memory(32, LOCAL_WRITE);
    server.queuePair.postReceive(into.receive(1));
    server.queuePair.postReceive(into.receive(2));
    Memory message = client.memory(32);
    postsUnsignaled(client, message);
    client.queuePair.postSend(message.send(4));
    End.take(server.receives);
    End.take(server.receives);
  }

  private static void postsUnsignaled(End client, Memory message) {
    client.queuePair.postSend(message.send(3));
  }

  @Test
  void isSilentWhereTheLastSendOfAFullQueueIsSignaled() {
    run(
        64,
        2,
        (client, server) -> {
          Memory into = server.memory(32, LOCAL_WRITE);
          server.queuePair.postReceive(into.receive(1));
          server.queuePair.postReceive(into.receive(2));
          Memory message = client.memory(32);
          postsUnsignaled(client, message);
          client.queuePair.postSend(message.send(4).signaled());
          End.take(client.sends);
          End.take(server.receives);
          End.take(server.receives);
        });
    assertSilent();
  }

  @Test
  void findsAPostToAQueueThatIsFull() {
    run(64, 1, QueueProgramsTest::forgetsToPoll);
    assertFound(QUEUE_OVERFILLED, "forgetsToPoll");
  }

  private static void forgetsToPoll(End client, End server) {
    receives(server, server.memory(32, LOCAL_WRITE));
    Memory message = client.memory(32);
    sends(client, message);
    assertThatThrownBy(() -> forgetsToPoll(client, message))
        .isInstanceOfSatisfying(
            PostException.class, e -> assertThat(e.workRequestId()).isEqualTo(77))
        .hasMessageContaining("work request 77: ");
    End.take(client.sends);
    End.take(server.receives);
  }

  private static void forgetsToPoll(End client, Memory message) {
    client.queuePair.postSend(
        new SendWorkRequest()
            .id(77)
            .write(0, 0)
            .buffer(message.region().address(), 0, message.region().lkey())
            .signaled());
  }

  private static void sends(End end, Memory message) {
    end.queuePair.postSend(message.send(3).signaled());
  }

  @Test
  void isSilentWhereACompletionIsPolledBeforeTheNextPost() {
    run(
        64,
        1,
        (client, server) -> {
          Memory into = server.memory(32, LOCAL_WRITE);
          Memory message = client.memory(32);
          for (int i = 0; i < 3; i++) {
            receives(server, into);
            sends(client, message);
            End.take(client.sends);
            End.take(server.receives);
          }
        });
    assertSilent();
  }

  @Test
  void findsASendWhoseCompletionIsNeverPolled() {
    run(QueueProgramsTest::closesWithoutPolling);
    assertFound(COMPLETION_NEVER_POLLED, "closesWithoutPolling");
  }

  private static void closesWithoutPolling(End client, End server) {
    receives(server, server.memory(32, LOCAL_WRITE));
    client.queuePair.postSend(client.memory(32).send(3).signaled());
    End.take(server.receives);
    client.queuePair.close();
  }

  @Test
  void findsAMessageThatIsThrownAwayWithItsCompletionQueue() {
    run(QueueProgramsTest::throwsAMessageAway);
    assertFound(COMPLETION_NEVER_POLLED, "throwsAMessageAway");
  }

  private static void throwsAMessageAway(End client, End server) {
    Memory into = server.memory(32, LOCAL_WRITE);
    server.queuePair.postReceive(into.receive(9));
    sends(client, client.memory(32));
    End.take(client.sends);
    server.queuePair.close();
    server.receives.close();
  }

  @Test
  void isSilentWhereAllIsPolledBeforeTheClose() {
    run(
        (client, server) -> {
          receives(server, server.memory(32, LOCAL_WRITE));
          sends(client, client.memory(32));
          End.take(client.sends);
          End.take(server.receives);
          client.queuePair.close();
          server.queuePair.close();
          server.receives.close();
        });
    assertSilent();
  }

  @Test
  void findsACompletionThatBelongsToNothing() {
    Bypass bypass = new Bypass();
    flushesAReceive(bypass, bypass::queuePair);
    assertFound(UNKNOWN_COMPLETION, "take");
  }

  @Test
  void isSilentWhereEachCompletionBelongsToARequest() {
    Bypass bypass = new Bypass();
    flushesAReceive(bypass, null);
    assertSilent();
  }

  /** Posts a receive to {@code bare}, or to the sanitized queue pair if null, and flushes it. */
  private static void flushesAReceive(Bypass bypass, @Nullable Supplier<QueuePair> bare) {
    Device device = Sanitizer.sanitize(bypass.open());
    ProtectionDomain domain = device.allocateProtectionDomain();
    CompletionQueue queue = device.createCompletionQueue(8, null);
    QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 1, 1));
    pair.modify(
        new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1).access(Set.of()));
    (bare == null ? pair : bare.get()).postReceive(new ReceiveWorkRequest(0).id(-1));
    pair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
    assertThat(End.take(queue).status()).isEqualTo(CompletionStatus.WR_FLUSH_ERR);
    pair.close();
    queue.close();
    domain.close();
    device.close();
  }
}
