// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.closing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.verbena.emulated.SeedOnFailure;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Objects in use refuse to close and keep working; an object is created whole or not at all. */
@ExtendWith(SeedOnFailure.class)
class OwnersTest {
  private static final int MESSAGES = 300;
  private static final int ROUNDS = 300;
  private static final int DEPTH = 16;
  private static final long DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(60);

  @ParameterizedTest
  @EnumSource(Medium.class)
  void whatIsInUseIsNotClosedAndGoesOn(Medium medium) throws Exception {
    try (EmulatedDevice device = medium.open();
        ProtectionDomain domain = device.allocateProtectionDomain();
        MemoryRegion region =
            domain.register(ByteBuffer.allocateDirect(8192), EnumSet.of(Access.LOCAL_WRITE));
        CompletionQueue queue = device.createCompletionQueue(4 * DEPTH, null);
        SharedReceiveQueue shared = domain.createSharedReceiveQueue(DEPTH, 1)) {
      QueuePairOptions options =
          QueuePairOptions.reliable(queue, queue, DEPTH, DEPTH)
              .withSignalAll()
              .withSharedReceiveQueue(shared);
      try (QueuePair sender = domain.createQueuePair(options);
          QueuePair receiver = domain.createQueuePair(options)) {
        Connections.connect(device, sender, receiver);
        Map<String, AutoCloseable> used =
            Map.of(
                "completion queue", queue,
                "shared receive queue", shared,
                "protection domain", domain,
                "device", device);
        AtomicBoolean done = new AtomicBoolean();
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Thread closing = new Thread(() -> refuseAll(used, done, failure));
        closing.start();

        try {
          move(sender, shared, region, queue);
        } finally {
          done.set(true);
          closing.join(TimeUnit.NANOSECONDS.toMillis(DEADLINE_NANOS));
        }

        assertThat(failure.get()).isNull();
      }
    }
  }

  private static void refuseAll(
      Map<String, AutoCloseable> used,
      AtomicBoolean done,
      AtomicReference<@Nullable Throwable> failure) {
    try {
      do {
        used.forEach(
            (name, object) ->
                assertThat(catchThrowableOfType(VerbsException.class, object::close))
                    .as("close of the %s", name)
                    .isNotNull()
                    .extracting(VerbsException::error)
                    .isEqualTo(VerbsError.BUSY));
      } while (!done.get());
    } catch (RuntimeException | Error e) {
      failure.set(e);
    }
  }

  private static void move(
      QueuePair sender, SharedReceiveQueue shared, MemoryRegion region, CompletionQueue queue) {
    WorkCompletion[] batch = WorkCompletion.array(DEPTH);
    for (int i = 0; i < MESSAGES; i++) {
      shared.postReceive(
          new ReceiveWorkRequest(1).id(i).buffer(region.address(), 4096, region.lkey()));
      sender.postSend(
          new SendWorkRequest(1).id(i).send().buffer(region.address() + 4096, 4096, region.lkey()));
      long deadline = System.nanoTime() + DEADLINE_NANOS;
      for (int completed = 0; completed < 2; ) {
        int count = queue.poll(batch);
        for (int j = 0; j < count; j++) {
          assertThat(batch[j].workRequestId()).isEqualTo(i);
          assertThat(batch[j].isSuccess()).isTrue();
        }
        completed += count;
        assertThat(completed).isLessThanOrEqualTo(2);
        assertThat(System.nanoTime()).as("message %d in time", i).isLessThan(deadline);
      }
    }
  }

  /** Either a child exists first and the domain stays open, or the domain is closed. */
  @ParameterizedTest
  @EnumSource(Medium.class)
  void aDomainIsClosedOrHasAChild(Medium medium) throws Exception {
    try (EmulatedDevice device = medium.open();
        CompletionQueue queue = device.createCompletionQueue(DEPTH, null)) {
      List<String> wrong = new ArrayList<>();
      for (int i = 0; i < ROUNDS; i++) {
        ProtectionDomain domain = device.allocateProtectionDomain();
        AtomicReference<@Nullable Object> closed = new AtomicReference<>();
        Thread closing =
            new Thread(() -> closed.set(catchThrowableOfType(VerbsException.class, domain::close)));
        closing.start();
        AutoCloseable child = null;
        VerbsError refused = null;
        try {
          child =
              switch (i % 3) {
                case 0 -> domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 1, 1));
                case 1 -> domain.createSharedReceiveQueue(1, 1);
                default ->
                    domain.register(ByteBuffer.allocateDirect(64), EnumSet.of(Access.LOCAL_WRITE));
              };
        } catch (VerbsException e) {
          refused = e.error();
        }
        closing.join(TimeUnit.NANOSECONDS.toMillis(DEADLINE_NANOS));
        boolean busy = closed.get() instanceof VerbsException e && e.error() == VerbsError.BUSY;
        boolean fits = child == null ? refused == VerbsError.CLOSED && !busy : busy;
        if (!fits) {
          wrong.add(i + ": child " + child + ", refused " + refused + ", close " + closed.get());
        }
        if (child != null) {
          child.close();
          domain.close();
        }
      }
      assertThat(wrong).isEmpty();
    }
  }
}
