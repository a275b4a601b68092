// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.Access.MW_BIND;
import static io.verbena.verbs.Access.REMOTE_WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Checks that posting and polling allocate nothing in the steady state. */
@ResourceLock(VerbsTests.MACHINE)
abstract class AllocationTests extends VerbsTests {
  private static final int WARM_UP = 30_000;
  private static final int OPERATIONS = 50_000;
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final long patience = tck.timeout().toNanos();

  AllocationTests(VerbsTck provider) {
    super(provider);
  }

  /**
   * An operation that posts, polls until the request completes, and returns whether it succeeded.
   */
  private interface Operation {
    boolean run();
  }

  @Test
  void writesWithoutAllocating() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(64);
    TestMemory from = pair.client().memory(64);

    allocatesNothing(once(pair.client(), Requests.write(1, remote, from).signaled()));
  }

  @Test
  void readsWithoutAllocating() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(4096);
    TestMemory into = pair.client().sink(4096);

    allocatesNothing(once(pair.client(), Requests.read(1, remote, into).signaled()));
  }

  @Test
  void swapsAndAddsWithoutAllocating() {
    if (isRefused(Capability.ATOMICS)) {
      return;
    }
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(8);
    TestMemory result = pair.client().memory(8, LOCAL_WRITE);

    allocatesNothing(once(pair.client(), Requests.fetchAndAdd(1, remote, 1, result).signaled()));
    allocatesNothing(
        once(pair.client(), Requests.compareAndSwap(1, remote, 0, 0, result).signaled()));
  }

  @Test
  void writesInlineWithoutAllocating() {
    if (isRefused(Capability.INLINE_DATA)) {
      return;
    }
    EndpointPair pair = tck.setup().inlineData(16).connected();
    TestMemory remote = pair.server().open(16);
    ByteBuffer data = ByteBuffer.allocateDirect(16);
    SendWorkRequest request = new SendWorkRequest().id(1);

    Endpoint client = pair.client();
    QueuePair queuePair = client.queuePair();
    CompletionQueue queue = client.sent().queue();
    WorkCompletion[] completions = WorkCompletion.array(1);
    long address = remote.address();
    int key = remote.rkey();
    allocatesNothing(
        () -> {
          queuePair.postSend(request.write(address, key).inline(data).signaled());
          return pollOne(queue, completions);
        });
  }

  @Test
  void sendsAndReceivesWithoutAllocating() {
    EndpointPair pair = tck.connected();
    TestMemory into = pair.server().memory(64, LOCAL_WRITE);
    ReceiveWorkRequest receive = Requests.receive(1, into);
    SendWorkRequest send = Requests.send(2, pair.client().memory(64)).signaled();

    QueuePair sender = pair.client().queuePair();
    QueuePair receiver = pair.server().queuePair();
    CompletionQueue sent = pair.client().sent().queue();
    CompletionQueue received = pair.server().received().queue();
    WorkCompletion[] completions = WorkCompletion.array(1);
    allocatesNothing(
        () -> {
          receiver.postReceive(receive);
          sender.postSend(send);
          return pollOne(sent, completions) && pollOne(received, completions);
        });
  }

  @Test
  void sendsBeforeTheReceiveIsPostedWithoutAllocating() {
    EndpointPair pair = tck.setup().rnrTimer(1).byHand();
    TestMemory into = pair.server().memory(64, LOCAL_WRITE);
    ReceiveWorkRequest receive = Requests.receive(1, into);
    SendWorkRequest send = Requests.send(2, pair.client().memory(64)).signaled();

    QueuePair sender = pair.client().queuePair();
    QueuePair receiver = pair.server().queuePair();
    CompletionQueue sent = pair.client().sent().queue();
    CompletionQueue received = pair.server().received().queue();
    WorkCompletion[] completions = WorkCompletion.array(1);
    allocatesNothing(
        () -> {
          sender.postSend(send);
          receiver.postReceive(receive);
          return pollOne(sent, completions) && pollOne(received, completions);
        });
  }

  @Test
  void postsUnsignaledChainsWithoutAllocating() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(64);
    TestMemory from = pair.client().memory(64);

    allocatesNothing(
        once(
            pair.client(),
            Requests.linked(
                Requests.write(1, remote, from),
                Requests.write(2, remote, from),
                Requests.write(3, remote, from).signaled())));
  }

  @Test
  void bindsAndInvalidatesWithoutAllocating() {
    if (!tck.supports(Capability.MEMORY_WINDOW_TYPE_2B) || isRefused(Capability.LOCAL_INVALIDATE)) {
      return;
    }
    Endpoint client = tck.connected().client();
    TestMemory memory = client.memory(64, LOCAL_WRITE, MW_BIND);
    WindowBinder window = WindowBinder.type2(client);
    SendWorkRequest bind = window.request(1, memory, REMOTE_WRITE);
    SendWorkRequest invalidate = new SendWorkRequest().id(2);

    QueuePair queuePair = client.queuePair();
    CompletionQueue queue = client.sent().queue();
    WorkCompletion[] completions = WorkCompletion.array(1);
    int access = REMOTE_WRITE.bit();
    allocatesNothing(
        () -> {
          int key = window.nextKey();
          queuePair.postSend(
              bind.bind(window.window(), key, memory.region(), access)
                  .buffer(memory.address(), 64, memory.lkey())
                  .next(invalidate.localInvalidate(key).signaled()));
          return pollOne(queue, completions);
        });
  }

  @Test
  void bindsAgainAndAgainWithoutAllocating() {
    if (!tck.supports(Capability.MEMORY_WINDOW_TYPE_1)) {
      return;
    }
    Endpoint client = tck.connected().client();
    TestMemory memory = client.memory(64, LOCAL_WRITE, MW_BIND);
    SendWorkRequest bind =
        WindowBinder.of(MemoryWindowType.TYPE_1, client)
            .request(1, memory, REMOTE_WRITE)
            .signaled();

    QueuePair queuePair = client.queuePair();
    CompletionQueue queue = client.sent().queue();
    WorkCompletion[] completions = WorkCompletion.array(1);
    allocatesNothing(
        () -> {
          queuePair.bindMemoryWindow(bind);
          return pollOne(queue, completions);
        });
  }

  @Test
  void invalidatesWithMessagesWithoutAllocating() {
    if (!tck.supports(Capability.MEMORY_WINDOW_TYPE_2B)
        || isRefused(Capability.SEND_WITH_INVALIDATE)) {
      return;
    }
    EndpointPair pair = tck.connected();
    TestMemory memory = pair.server().memory(64, LOCAL_WRITE, MW_BIND);
    WindowBinder window = WindowBinder.type2(pair.server());
    SendWorkRequest bind = window.request(1, memory, REMOTE_WRITE);
    SendWorkRequest send = new SendWorkRequest().id(2);
    ReceiveWorkRequest receive = Requests.receive(3);

    QueuePair binder = pair.server().queuePair();
    QueuePair sender = pair.client().queuePair();
    CompletionQueue bound = pair.server().sent().queue();
    CompletionQueue sent = pair.client().sent().queue();
    CompletionQueue received = pair.server().received().queue();
    WorkCompletion[] completions = WorkCompletion.array(1);
    int access = REMOTE_WRITE.bit();
    allocatesNothing(
        () -> {
          int key = window.nextKey();
          binder.postReceive(receive);
          binder.postSend(
              bind.bind(window.window(), key, memory.region(), access)
                  .buffer(memory.address(), 64, memory.lkey())
                  .signaled());
          if (!pollOne(bound, completions)) {
            return false;
          }
          sender.postSend(send.sendWithInvalidate(key).signaled());
          return pollOne(sent, completions) && pollOne(received, completions);
        });
  }

  @Test
  void armsWithoutAllocating() throws InterruptedException {
    Endpoint client = tck.setup().channel().connected().client();
    CompletionQueue queue = client.sent().queue();
    WorkCompletion[] completions = WorkCompletion.array(1);

    allocatesNothing(
        () -> {
          queue.arm(false);
          return queue.poll(completions) == 0;
        });
    assertThat(client.events().await(0)).isNull();
  }

  private Operation once(Endpoint end, SendWorkRequest request) {
    QueuePair queuePair = end.queuePair();
    CompletionQueue queue = end.sent().queue();
    WorkCompletion[] completions = WorkCompletion.array(1);
    return () -> {
      queuePair.postSend(request);
      return pollOne(queue, completions);
    };
  }

  private boolean pollOne(CompletionQueue queue, WorkCompletion[] completions) {
    long start = System.nanoTime();
    while (queue.poll(completions) == 0) {
      if (System.nanoTime() - start > patience) {
        return false;
      }
      Thread.onSpinWait();
    }
    return completions[0].isSuccess();
  }

  private void allocatesNothing(Operation operation) {
    int warmUp = tck.iterations(WARM_UP);
    int operations = tck.iterations(OPERATIONS);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    assertThat(threads.isThreadAllocatedMemorySupported()).as("allocation counters").isTrue();
    threads.setThreadAllocatedMemoryEnabled(true);
    long self = Thread.currentThread().getId();
    assertThat(runAll(operation, warmUp)).isEqualTo(warmUp);
    threads.getThreadAllocatedBytes(self);

    // Waits for the JIT compiler, because the rule is about the steady state.
    Deadline compiled = Deadline.in(PATIENCE);
    double bytes;
    do {
      long before = threads.getThreadAllocatedBytes(self);
      int done = runAll(operation, operations);
      bytes = (threads.getThreadAllocatedBytes(self) - before) / (double) operations;
      assertThat(done).as("successful operations").isEqualTo(operations);
    } while (bytes >= 1 && !compiled.isOver());
    assertThat(bytes).as("bytes per operation").isLessThan(1);
  }

  private static int runAll(Operation operation, int count) {
    int done = 0;
    while (done < count && operation.run()) {
      done++;
    }
    return done;
  }
}
