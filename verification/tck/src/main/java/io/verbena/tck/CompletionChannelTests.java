// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.CompletionStatus.WR_FLUSH_ERR;
import static io.verbena.verbs.VerbsError.BUSY;
import static io.verbena.verbs.VerbsError.CLOSED;
import static io.verbena.verbs.VerbsError.INVALID;
import static io.verbena.verbs.VerbsError.NO_MEMORY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.WorkCompletion;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Completion channels: arming completion queues, waiting for events, and waking up. */
abstract class CompletionChannelTests extends VerbsTests {
  CompletionChannelTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void isTheChannelOfItsQueues() {
    CompletionChannel channel = tck.own(tck.device().createCompletionChannel());

    assertThat(tck.own(tck.device().createCompletionQueue(4, channel)).channel()).isSameAs(channel);
  }

  @Test
  void tellsTheQueueThatHasACompletionOnceItIsArmed() throws InterruptedException {
    Endpoint client = tck.setup().channel().connected().client();
    CompletionQueue queue = client.sent().queue();

    queue.arm(false);
    client.post(Requests.nothing(1).signaled());

    expectEvent(client.events(), queue);
    client.sent().expectSuccess(1, RDMA_WRITE);
  }

  @Test
  void tellsNothingWithoutArming() throws InterruptedException {
    Endpoint client = tck.setup().channel().connected().client();

    client.post(Requests.nothing(1).signaled());
    client.sent().expectSuccess(1, RDMA_WRITE);

    expectNoEvent(client.events());
  }

  @Test
  void tellsNothingOfWhatCameBeforeArming() throws InterruptedException {
    Endpoint client = tck.setup().channel().connected().client();
    CompletionQueue queue = client.sent().queue();
    client.post(Requests.nothing(1).signaled());
    client.sent().expectSuccess(1, RDMA_WRITE);

    queue.arm(false);

    expectNoEvent(client.events());
  }

  @Test
  void tellsOneCompletionForOneArming() throws InterruptedException {
    Endpoint client = tck.setup().channel().connected().client();
    CompletionQueue queue = client.sent().queue();

    queue.arm(false);
    client.post(Requests.nothing(1).signaled());
    client.post(Requests.nothing(2).signaled());

    expectEvent(client.events(), queue);
    client.sent().expectSuccess(1, RDMA_WRITE);
    client.sent().expectSuccess(2, RDMA_WRITE);
    expectNoEvent(client.events());
  }

  @Test
  void tellsAgainWhenItIsArmedAgain() throws InterruptedException {
    Endpoint client = tck.setup().channel().connected().client();
    CompletionQueue queue = client.sent().queue();

    for (int id = 1; id <= 10; id++) {
      queue.arm(false);
      client.post(Requests.nothing(id).signaled());

      expectEvent(client.events(), queue);
      client.sent().expectSuccess(id, RDMA_WRITE);
    }
    expectNoEvent(client.events());
  }

  @Test
  void tellsOnceEvenIfItIsArmedTwice() throws InterruptedException {
    Endpoint client = tck.setup().channel().connected().client();
    CompletionQueue queue = client.sent().queue();

    queue.arm(false);
    queue.arm(false);
    client.post(Requests.nothing(1).signaled());
    client.post(Requests.nothing(2).signaled());

    expectEvent(client.events(), queue);
    client.sent().expectSuccess(1, RDMA_WRITE);
    client.sent().expectSuccess(2, RDMA_WRITE);
    expectNoEvent(client.events());
  }

  @Test
  void passesOverUnsolicitedReceivesWhenArmedForSolicitedOnes() throws InterruptedException {
    EndpointPair pair = tck.setup().channel().connected();
    Endpoint server = pair.server();
    server.post(Requests.receive(1));
    server.post(Requests.receive(2));
    server.received().queue().arm(true);

    pair.client().post(Requests.send(1));
    server.received().expectSuccess(1, RECV);
    expectNoEvent(server.events());

    pair.client().post(Requests.send(2).solicited());
    expectEvent(server.events(), server.received().queue());
    server.received().expectSuccess(2, RECV);
  }

  @Test
  void tellsASolicitedReceiveAlsoWhenArmedForAny() throws InterruptedException {
    EndpointPair pair = tck.setup().channel().connected();
    Endpoint server = pair.server();
    server.post(Requests.receive(1));
    server.received().queue().arm(false);

    pair.client().post(Requests.send(1).solicited());

    expectEvent(server.events(), server.received().queue());
    server.received().expectSuccess(1, RECV);
  }

  @Test
  void tellsASolicitedWriteWithImmediate() throws InterruptedException {
    if (isRefused(Capability.IMMEDIATE_DATA)) {
      return;
    }
    EndpointPair pair = tck.setup().channel().connected();
    Endpoint server = pair.server();
    TestMemory remote = server.open(8);
    server.post(Requests.receive(1));
    server.received().queue().arm(true);

    pair.client()
        .post(Requests.writeWithImmediate(1, 5, remote, pair.client().memory(8)).solicited());

    expectEvent(server.events(), server.received().queue());
    server.received().expectSuccess(1, CompletionOpcode.RECV_RDMA_WITH_IMM);
  }

  @Test
  void passesOverTheSendersOwnCompletionWhenArmedForSolicitedOnes() throws InterruptedException {
    EndpointPair pair = tck.setup().channel().connected();
    pair.server().post(Requests.receive(1));
    pair.client().sent().queue().arm(true);

    pair.client().post(Requests.send(1).solicited().signaled());

    pair.client().sent().expectSuccess(1, SEND);
    expectNoEvent(pair.client().events());
  }

  @Test
  void tellsAnErrorWhenArmedForSolicitedOnes() throws InterruptedException {
    Endpoint server = tck.setup().channel().connected().server();
    server.post(Requests.receive(1));
    server.received().queue().arm(true);

    server.queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));

    expectEvent(server.events(), server.received().queue());
    server.received().expectError(1, WR_FLUSH_ERR);
  }

  @Test
  void stillTellsAnyCompletionWhenArmedForSolicitedOnesAfterwards() throws InterruptedException {
    Endpoint client = tck.setup().channel().connected().client();
    CompletionQueue queue = client.sent().queue();

    queue.arm(false);
    queue.arm(true);
    client.post(Requests.nothing(1).signaled());

    expectEvent(client.events(), queue);
    client.sent().expectSuccess(1, RDMA_WRITE);
  }

  @Test
  void servesSeveralQueues() throws InterruptedException {
    EndpointPair pair = tck.setup().channel().connected();
    Endpoint server = pair.server();
    TestMemory into = server.memory(8, LOCAL_WRITE);
    server.post(Requests.receive(1, into));
    server.received().queue().arm(false);
    server.sent().queue().arm(false);

    server.post(Requests.nothing(2).signaled());
    pair.client().post(Requests.send(3));

    Set<CompletionQueue> told = new HashSet<>();
    told.add(nextEvent(server.events()));
    told.add(nextEvent(server.events()));
    assertThat(told).containsExactlyInAnyOrder(server.received().queue(), server.sent().queue());
    expectNoEvent(server.events());
    server.sent().expectSuccess(2, RDMA_WRITE);
    server.received().expectSuccess(1, RECV);
  }

  @Test
  void givesUpWhenTheTimeIsOver() throws InterruptedException {
    CompletionChannel channel = tck.own(tck.device().createCompletionChannel());
    Duration time = Duration.ofMillis(20);
    long start = System.nanoTime();

    assertThat(channel.await(time.toNanos())).isNull();

    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(time.toNanos());
  }

  @Test
  void wakesTheThreadThatWaits() throws Exception {
    CompletionChannel channel = tck.own(tck.device().createCompletionChannel());
    CompletableFuture<String> waited = awaitInThread(channel);

    channel.wakeup();

    assertThat(waited.get(tck.timeout().toNanos(), TimeUnit.NANOSECONDS)).isEqualTo("null");
  }

  @Test
  void wakesTheNextThreadThatWouldWait() throws InterruptedException {
    CompletionChannel channel = tck.own(tck.device().createCompletionChannel());
    channel.wakeup();
    Deadline deadline = Deadline.in(tck.timeout());

    assertThat(channel.await(tck.timeout().toNanos())).isNull();

    assertThat(deadline.isOver()).as("waited until the timeout in spite of a wake-up").isFalse();
  }

  @Test
  void losesNoEventToAWakeup() throws InterruptedException {
    Endpoint client = tck.setup().channel().connected().client();
    client.sent().queue().arm(false);
    client.post(Requests.nothing(1).signaled());
    client.sent().expectSuccess(1, RDMA_WRITE);

    client.events().wakeup();

    CompletionQueue first = client.events().await(tck.timeout().toNanos());
    CompletionQueue told = first == null ? client.events().await(tck.timeout().toNanos()) : first;
    assertThat(told).isSameAs(client.sent().queue());
    client.sent().queue().acknowledgeEvents(1);
  }

  /** Tests providers that support listeners, which are optional. */
  @Test
  void callsItsListenerForAnEventThatIsThenThere() throws InterruptedException {
    Endpoint client = tck.setup().channel().connected().client();
    CompletionQueue queue = client.sent().queue();
    CountDownLatch called = new CountDownLatch(1);
    boolean listens = client.events().listen(called::countDown);

    queue.arm(false);
    client.post(Requests.nothing(1).signaled());

    if (listens) {
      assertThat(called.await(tck.timeout().toNanos(), TimeUnit.NANOSECONDS)).isTrue();
    }
    expectEvent(client.events(), queue);
    client.sent().expectSuccess(1, RDMA_WRITE);
  }

  @Test
  void endsTheWaitWhenItIsClosed() throws Exception {
    CompletionChannel channel = tck.own(tck.device().createCompletionChannel());
    CompletableFuture<String> waited = awaitInThread(channel);

    channel.close();

    assertThat(waited.get(tck.timeout().toNanos(), TimeUnit.NANOSECONDS)).isEqualTo("null");
  }

  @Test
  void letsTheWaitBeInterrupted() {
    CompletionChannel channel = tck.own(tck.device().createCompletionChannel());
    Thread.currentThread().interrupt();

    assertThatThrownBy(() -> channel.await(tck.timeout().toNanos()))
        .isInstanceOf(InterruptedException.class);
  }

  @Test
  void isBusyWhileAQueueUsesIt() {
    CompletionChannel channel = tck.own(tck.device().createCompletionChannel());
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(4, channel));

    expectFailure(BUSY, channel::close);

    queue.close();
    channel.close();
  }

  @Test
  void mayBeClosedTwice() {
    CompletionChannel channel = tck.own(tck.device().createCompletionChannel());

    channel.close();
    channel.close();
  }

  @Test
  void takesNoQueueOnceItIsClosed() {
    CompletionChannel channel = tck.own(tck.device().createCompletionChannel());
    channel.close();

    expectFailure(CLOSED, () -> tck.device().createCompletionQueue(4, channel));
  }

  @Test
  void doesNotArmAQueueWithoutAChannel() {
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(4, null));

    expectFailure(INVALID, () -> queue.arm(false));
  }

  @Test
  void keepsAQueueBusyUntilItsEventsAreAcknowledged() throws InterruptedException {
    Endpoint client = tck.setup().channel().connected().client();
    CompletionQueue queue = client.sent().queue();
    queue.arm(false);
    client.post(Requests.nothing(1).signaled());
    assertThat(client.events().await(tck.timeout().toNanos())).isSameAs(queue);
    client.queuePair().close();

    expectFailure(BUSY, queue::close);

    queue.acknowledgeEvents(1);
    queue.close();
  }

  @Test
  void forgetsTheEventsOfAQueueThatIsClosed() throws InterruptedException {
    Endpoint client = tck.setup().channel().connected().client();
    client.sent().queue().arm(false);
    client.post(Requests.nothing(1).signaled());
    client.sent().expectSuccess(1, RDMA_WRITE);

    client.queuePair().close();
    client.sent().queue().close();

    expectNoEvent(client.events());
  }

  @Test
  void losesNoWakeupWhenCompletionsRaceWithArming() throws InterruptedException {
    losesNoWakeup(tck.setup());
  }

  @Test
  void losesNoWakeupOfAQueueThatOneThreadPolls() throws InterruptedException {
    losesNoWakeup(tck.setup().singleThreaded());
  }

  private void losesNoWakeup(EndpointSetup setup) throws InterruptedException {
    int rounds = tck.iterations(20_000);
    Endpoint client = setup.channel().sends(64).connected().client();

    new Parallel()
        .thread(() -> postEach(client, rounds))
        .thread(() -> sleepForEach(client, rounds))
        .run(tck.timeout().multipliedBy(3));
  }

  @Test
  void losesNoWakeupWhenReceivesRaceWithArming() throws InterruptedException {
    AtomicInteger messages = new AtomicInteger(tck.iterations(5_000));
    EndpointPair pair = tck.setup().channel().rnrTimer(1).byHand();
    Endpoint server = pair.server();
    // Runs fewer rounds on a busy machine, because the test asserts nothing about the rate of
    // messages.
    Deadline enough = Deadline.in(tck.timeout().multipliedBy(2));

    new Parallel()
        .thread(
            () -> {
              for (int id = 1; id <= messages.get(); id++) {
                if (enough.isOver()) {
                  // Set before the send, so that the server does not wait for a message that is
                  // never sent.
                  messages.set(id);
                }
                pair.client().post(Requests.send(id).signaled());
                pair.client().sent().expectSuccess(id, SEND);
              }
            })
        .thread(
            () -> {
              int armed = 0;
              server.post(Requests.receive(0));
              for (int taken = 0; taken < messages.get(); ) {
                WorkCompletion completion = server.received().poll();
                if (completion != null) {
                  taken++;
                  server.post(Requests.receive(taken));
                } else if (armed == 0) {
                  server.received().queue().arm(false);
                  armed = 1;
                } else {
                  expectEvent(server.events(), server.received().queue());
                  armed = 0;
                }
              }
            })
        .run(tck.timeout().multipliedBy(3));
  }

  /**
   * Posts bursts of one to three requests, and waits between them until the waiting thread has
   * polled them.
   */
  private static void postEach(Endpoint end, int rounds) {
    for (int id = 1; id <= rounds; ) {
      try {
        end.post(Requests.nothing(id).signaled());
        id++;
      } catch (PostException full) {
        assertThat(full.error()).isEqualTo(NO_MEMORY);
        Thread.onSpinWait();
      }
      for (int pause = id % 64; pause > 0; pause--) {
        Thread.onSpinWait();
      }
    }
  }

  /** Arms the queue, polls again, and only then waits. A missing event means a lost wake-up. */
  private void sleepForEach(Endpoint end, int rounds) throws InterruptedException {
    boolean armed = false;
    for (long expected = 1; expected <= rounds; ) {
      WorkCompletion completion = end.sent().poll();
      if (completion != null) {
        assertThat(completion.workRequestId()).isEqualTo(expected);
        expected++;
      } else if (!armed) {
        end.sent().queue().arm(false);
        armed = true;
      } else {
        expectEvent(end.events(), end.sent().queue());
        armed = false;
      }
    }
  }

  private CompletableFuture<String> awaitInThread(CompletionChannel channel) {
    CompletableFuture<String> waited = new CompletableFuture<>();
    Thread waiter =
        Parallel.start(() -> waited.complete(String.valueOf(channel.await(Long.MAX_VALUE))));
    Parallel.awaitBlocked(waiter, tck.timeout());
    return waited;
  }

  private void expectEvent(CompletionChannel channel, CompletionQueue queue)
      throws InterruptedException {
    assertThat(nextEvent(channel)).as("the queue of the event").isSameAs(queue);
  }

  private CompletionQueue nextEvent(CompletionChannel channel) throws InterruptedException {
    CompletionQueue told = channel.await(tck.timeout().toNanos());
    if (told == null) {
      throw new AssertionError("no completion event within " + tck.timeout());
    }
    told.acknowledgeEvents(1);
    return told;
  }

  private static void expectNoEvent(CompletionChannel channel) throws InterruptedException {
    CompletionQueue told = channel.await(0);
    if (told != null) {
      told.acknowledgeEvents(1);
    }
    assertThat(told).as("unexpected completion event").isNull();
  }
}
