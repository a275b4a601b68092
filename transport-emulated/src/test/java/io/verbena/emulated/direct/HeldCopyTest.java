// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.cm.local.LocalConnectionManagers;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.hca.Ownership;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Memory is released only after all copies have ended, even while another thread closes or resets
 * the queue pair of the copy. The test stands in for the copying thread and owns the send queue.
 */
class HeldCopyTest {
  private static final Set<Access> ALL =
      EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.MW_BIND);
  private static final long DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** Number of successive observations after which a thread counts as waiting. */
  private static final int LOOKS = 20;

  private final DirectFabric fabric = new DirectFabric();
  private final Queue<String> early = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean copying = new AtomicBoolean();
  private final List<Thread> threads = new ArrayList<>();
  private End sender;
  private End receiver;

  /** A device with a queue pair and the other objects of a program. */
  private static final class End {
    final EmulatedDevice device;
    final EmulatedProtectionDomain domain;
    final CompletionQueue completions;
    final MemoryRegion closed;
    final MemoryRegion changed;
    final MemoryWindow window;
    final QueuePair pair;

    End(DirectFabric fabric) {
      device = EmulatedDevice.open(fabric, DeviceLimits.FULL, new LocalConnectionManagers());
      domain = device.allocateProtectionDomain();
      completions = device.createCompletionQueue(64, null);
      closed = domain.register(ByteBuffer.allocateDirect(4096), ALL);
      changed = domain.register(ByteBuffer.allocateDirect(4096), ALL);
      window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2B);
      pair = domain.createQueuePair(QueuePairOptions.reliable(completions, completions, 4, 4));
    }

    void close() {
      pair.close();
      window.close();
      closed.close();
      changed.close();
      completions.close();
      domain.close();
      device.close();
    }
  }

  @BeforeEach
  void connect() {
    sender = new End(fabric);
    receiver = new End(fabric);
    Loopback.connect(receiver.device, sender.pair, receiver.pair);
    Loopback.connect(sender.device, receiver.pair, sender.pair);
  }

  @AfterEach
  void close() {
    sender.close();
    receiver.close();
  }

  @ParameterizedTest(name = "{0} of the {1}")
  @CsvSource({"RESET,receiver", "close,receiver", "RESET,sender", "close,sender"})
  void memoryIsGivenBackOnlyAfterTheCopy(String how, String whose) throws Exception {
    End end = whose.equals("sender") ? sender : receiver;
    Ownership copy = ((DirectQueuePair) sender.pair).sends().ownership;
    copying.set(true);
    copy.acquire();
    try {
      takeAway(how, end.pair);
      end("region.close", end.closed::close);
      end("region.close again", end.closed::close);
      end("region.reregister", () -> end.changed.reregister(null, null, Set.of()));
      end("window.close", end.window::close);
      end("window.close again", end.window::close);
      takeAway(how, end.pair);
    } finally {
      copying.set(false);
      copy.release();
    }
    for (Thread thread : threads) {
      thread.join(TimeUnit.NANOSECONDS.toMillis(DEADLINE_NANOS));
      assertThat(thread.isAlive()).as("%s has not ended", thread.getName()).isFalse();
    }
    assertThat(early).as("returned before the copy was over").isEmpty();
  }

  private void takeAway(String how, QueuePair pair) {
    end(
        "queue pair " + how,
        how.equals("close")
            ? pair::close
            : () -> pair.modify(new QueuePairAttributes().state(QueuePairState.RESET)));
  }

  /** Starts an action that must not end during the copy, and returns once it waits. */
  private void end(String name, Runnable action) {
    Thread thread =
        new Thread(
            () -> {
              action.run();
              if (copying.get()) {
                early.add(name);
              }
            },
            name);
    threads.add(thread);
    thread.start();
    long deadline = System.nanoTime() + DEADLINE_NANOS;
    for (int looks = 0; looks < LOOKS; looks = waits(thread) ? looks + 1 : 0) {
      assertThat(System.nanoTime()).as("%s neither waits nor ends", name).isLessThan(deadline);
      Thread.onSpinWait();
    }
  }

  private static boolean waits(Thread thread) {
    Thread.State state = thread.getState();
    if (state == Thread.State.TERMINATED
        || state == Thread.State.WAITING
        || state == Thread.State.BLOCKED) {
      return true;
    }
    for (StackTraceElement frame : thread.getStackTrace()) {
      if (frame.getClassName().equals(Ownership.class.getName())) {
        return true;
      }
    }
    return false;
  }
}
