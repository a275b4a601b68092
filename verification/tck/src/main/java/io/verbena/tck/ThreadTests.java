// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.VerbsError.CLOSED;
import static io.verbena.verbs.VerbsError.NO_MEMORY;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

/** Concurrent use of different queue pairs and of the same one. */
abstract class ThreadTests extends VerbsTests {
  ThreadTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void servesTwoThreadsOnTwoQueuePairs() throws InterruptedException {
    EndpointPair one = tck.connected();
    EndpointPair two = tck.connected();

    new Parallel()
        .thread(() -> pingPong(one, tck.iterations(5000)))
        .thread(() -> pingPong(two, tck.iterations(5000)))
        .run(tck.timeout().multipliedBy(2));
  }

  @Test
  void servesTheTwoEndsOfAConnectionInTwoThreads() throws InterruptedException {
    EndpointPair pair = tck.setup().receives(64).sends(64).connected();
    int messages = tck.iterations(10_000);

    new Parallel()
        .thread(() -> sendAll(pair.client(), messages))
        .thread(() -> receiveAll(pair.server(), messages))
        .thread(() -> sendAll(pair.server(), messages))
        .thread(() -> receiveAll(pair.client(), messages))
        .run(tck.timeout().multipliedBy(3));
  }

  @Test
  void takesPostsOfManyThreadsOnOneQueuePair() throws InterruptedException {
    int threads = 4;
    int each = tck.iterations(2000);
    Endpoint client = tck.setup().sends(64).connected().client();
    AtomicIntegerArray seen = new AtomicIntegerArray(threads * each);
    Parallel parallel = new Parallel();
    for (int thread = 0; thread < threads; thread++) {
      int first = thread * each;
      parallel.thread(() -> postAll(client, first, each));
    }
    parallel.thread(
        () -> {
          for (int i = 0; i < threads * each; i++) {
            count(client.sent().next(), seen);
          }
        });

    parallel.run(tck.timeout().multipliedBy(2));

    assertEachOnce(seen);
    client.sent().expectNothing();
  }

  @Test
  void takesReceivesOfManyThreadsOnOneQueuePair() throws InterruptedException {
    int threads = 4;
    int each = tck.iterations(1000);
    EndpointPair pair = tck.setup().sends(64).receives(threads * each).connected();
    Parallel parallel = new Parallel();
    for (int thread = 0; thread < threads; thread++) {
      int first = thread * each;
      parallel.thread(
          () -> {
            for (int id = first; id < first + each; id++) {
              pair.server().post(Requests.receive(id));
            }
          });
    }
    parallel.thread(
        () -> {
          for (int id = 0; id < threads * each; id++) {
            pair.client().post(Requests.send(id).signaled());
            pair.client().sent().expectSuccess(id, SEND);
          }
        });

    parallel.run(tck.timeout().multipliedBy(2));

    AtomicIntegerArray seen = new AtomicIntegerArray(threads * each);
    for (int i = 0; i < threads * each; i++) {
      count(pair.server().received().next(), seen);
    }
    assertEachOnce(seen);
  }

  @Test
  void handsEachCompletionToOneOfSeveralPollers() throws InterruptedException {
    int messages = tck.iterations(10_000);
    Endpoint client = tck.setup().sends(64).connected().client();
    AtomicIntegerArray seen = new AtomicIntegerArray(messages);
    AtomicInteger total = new AtomicInteger();
    Parallel parallel = new Parallel().thread(() -> postAll(client, 0, messages));
    for (int poller = 0; poller < 3; poller++) {
      parallel.thread(() -> pollUntil(messages, total, client.sent().queue(), seen));
    }

    parallel.run(tck.timeout().multipliedBy(2));

    assertEachOnce(seen);
    client.sent().expectNothing();
  }

  @Test
  void completesEachRequestOnceWhenAnErrorRacesWithPosting() throws InterruptedException {
    for (int round = 0; round < tck.iterations(50); round++) {
      EndpointPair pair = tck.connected();
      Endpoint client = pair.client();
      List<Long> posted = new ArrayList<>();

      new Parallel()
          .thread(
              () -> {
                for (long id = 0; id < 16; id++) {
                  client.post(Requests.send(id).signaled());
                  posted.add(id);
                }
              })
          .thread(() -> client.queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR)))
          .run(tck.timeout());

      for (long id : posted) {
        client.sent().expectError(id, CompletionStatus.WR_FLUSH_ERR);
      }
      client.sent().expectNothing();
    }
  }

  @Test
  void survivesThatOneEndIsClosedWhileTheOtherPosts() throws InterruptedException {
    for (int round = 0; round < tck.iterations(50); round++) {
      EndpointPair pair = tck.setup().timeout(8, 1).byHand();
      TestMemory remote = pair.server().open(4096);
      TestMemory from = pair.client().memory(4096).fill(1);

      new Parallel()
          .thread(
              () -> {
                for (int id = 0; id < 16; id++) {
                  pair.client().post(Requests.write(id, remote, from).signaled());
                }
              })
          .thread(pair.server().queuePair()::close)
          .run(tck.timeout());

      for (int id = 0; id < 16; id++) {
        assertThat(pair.client().sent().next().workRequestId()).isEqualTo(id);
      }
      pair.client().sent().expectNothing();
    }
  }

  @Test
  void survivesThatARegionIsClosedWhilePeersWriteToIt() throws InterruptedException {
    for (int round = 0; round < tck.iterations(50); round++) {
      EndpointPair pair = tck.connected();
      TestMemory remote = pair.server().open(4096);
      TestMemory from = pair.client().memory(4096).fill(1);
      SendWorkRequest[] requests = new SendWorkRequest[16];
      for (int id = 0; id < 16; id++) {
        requests[id] = Requests.write(id, remote, from).signaled();
      }

      new Parallel()
          .thread(
              () -> {
                for (SendWorkRequest request : requests) {
                  pair.client().post(request);
                }
              })
          .thread(
              () -> {
                remote.region().close();
                // After close returns, the HCA must not access the memory.
                remote.fill(2);
                remote.assertHolds(2);
              })
          .run(tck.timeout());

      for (int id = 0; id < 16; id++) {
        WorkCompletion completion = pair.client().sent().next();
        assertThat(completion.workRequestId()).isEqualTo(id);
        assertThat(completion.status())
            .isIn(
                CompletionStatus.SUCCESS,
                CompletionStatus.REM_ACCESS_ERR,
                CompletionStatus.WR_FLUSH_ERR);
      }
      remote.assertHolds(2);
    }
  }

  @Test
  void survivesThatAQueuePairIsClosedWhileItIsPostedTo() throws InterruptedException {
    for (int round = 0; round < tck.iterations(50); round++) {
      Endpoint client = tck.setup().sends(64).connected().client();

      new Parallel()
          .thread(() -> postUntilClosed(client))
          .thread(client.queuePair()::close)
          .run(tck.timeout());
    }
  }

  @Test
  void completesEachRequestOnceWhenTheConnectionEndsMeanwhile() throws InterruptedException {
    int messages = 64;
    for (int round = 0; round < tck.iterations(30); round++) {
      EndpointPair pair = tck.setup().sends(messages).receives(messages).connected();
      for (int id = 0; id < messages; id++) {
        pair.server().post(Requests.receive(id));
      }

      new Parallel()
          .thread(
              () -> {
                for (int id = 0; id < messages; id++) {
                  pair.client().post(Requests.send(id).signaled());
                }
              })
          .thread(pair.requiredIdentifiers().passive()::disconnect)
          .run(tck.timeout());
      pair.requiredIdentifiers()
          .caller()
          .expect(ConnectionEvent.Type.DISCONNECTED, pair.requiredIdentifiers().active());

      int sent = countSuccesses(pair.client().sent(), messages);
      int received = countSuccesses(pair.server().received(), messages);
      assertThat(received).as("messages received").isGreaterThanOrEqualTo(sent);
      pair.client().sent().expectNothing();
      pair.server().received().expectNothing();
    }
  }

  /** Polls all completions, which must be in order: first successes, then only failures. */
  private static int countSuccesses(CompletionPoller completions, int count) {
    int successes = 0;
    for (int id = 0; id < count; id++) {
      WorkCompletion completion = completions.next();
      assertThat(completion.workRequestId()).as("id of %s", completion).isEqualTo(id);
      if (completion.isSuccess()) {
        assertThat(successes).as("successes before %s", completion).isEqualTo(id);
        successes++;
      }
    }
    return successes;
  }

  private static void postUntilClosed(Endpoint end) {
    try {
      for (int id = 0; id < 64; id++) {
        end.post(Requests.nothing(id).signaled());
      }
    } catch (PostException closed) {
      assertThat(closed.error()).isEqualTo(CLOSED);
    }
  }

  private static void pingPong(EndpointPair pair, int rounds) {
    TestMemory clients = pair.client().memory(8, LOCAL_WRITE);
    TestMemory servers = pair.server().memory(8, LOCAL_WRITE);
    for (int id = 1; id <= rounds; id++) {
      pair.server().post(Requests.receive(id, servers));
      pair.client().post(Requests.receive(id, clients));
      pair.client().post(Requests.send(id, clients.putLong(0, id)).signaled());
      pair.client().sent().expectSuccess(id, SEND);
      pair.server().received().expectSuccess(id, RECV);
      assertThat(servers.getLong(0)).isEqualTo(id);
      pair.server().post(Requests.send(id, servers.putLong(0, -id)).signaled());
      pair.server().sent().expectSuccess(id, SEND);
      pair.client().received().expectSuccess(id, RECV);
      assertThat(clients.getLong(0)).isEqualTo(-id);
    }
  }

  private static void sendAll(Endpoint end, int messages) {
    TestMemory from = end.memory(16 * 8);
    for (int id = 0; id < messages; id++) {
      if (id >= 16) {
        end.sent().expectSuccess(id - 16, SEND);
      }
      end.post(Requests.send(id, from.part(id % 16 * 8, 8).putLong(0, id)).signaled());
    }
    for (int id = messages - 16; id < messages; id++) {
      end.sent().expectSuccess(id, SEND);
    }
  }

  private static void receiveAll(Endpoint end, int messages) {
    TestMemory into = end.memory(16 * 8, LOCAL_WRITE);
    for (int id = 0; id < 16; id++) {
      end.post(Requests.receive(id, into.part(id * 8, 8)));
    }
    for (int id = 0; id < messages; id++) {
      end.received().expectSuccess(id, RECV);
      TestMemory slot = into.part(id % 16 * 8, 8);
      assertThat(slot.getLong(0)).isEqualTo(id);
      end.post(Requests.receive(id + 16, slot));
    }
  }

  private void postAll(Endpoint end, int first, int count) {
    Deadline deadline = Deadline.in(tck.timeout().multipliedBy(2));
    for (int id = first; id < first + count && !deadline.isOver(); ) {
      try {
        end.post(Requests.nothing(id).signaled());
        deadline.progressed();
        id++;
      } catch (PostException full) {
        assertThat(full.error()).isEqualTo(NO_MEMORY);
        deadline.pause();
      }
    }
  }

  private void pollUntil(
      int messages, AtomicInteger total, CompletionQueue queue, AtomicIntegerArray seen) {
    WorkCompletion[] completions = WorkCompletion.array(8);
    Deadline deadline = Deadline.in(tck.timeout().multipliedBy(2));
    while (total.get() < messages) {
      int taken = queue.poll(completions);
      for (int i = 0; i < taken; i++) {
        count(completions[i], seen);
      }
      total.addAndGet(taken);
      if (deadline.isOver()) {
        throw new AssertionError(total + " of " + messages + " completions in time");
      }
      if (taken == 0) {
        deadline.pause();
      } else {
        deadline.progressed();
      }
    }
  }

  private static void count(WorkCompletion completion, AtomicIntegerArray seen) {
    assertThat(completion.status()).as("%s", completion).isEqualTo(CompletionStatus.SUCCESS);
    seen.incrementAndGet((int) completion.workRequestId());
  }

  private static void assertEachOnce(AtomicIntegerArray seen) {
    for (int id = 0; id < seen.length(); id++) {
      assertThat(seen.get(id)).as("completions of request %d", id).isEqualTo(1);
    }
  }
}
