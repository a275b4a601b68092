// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.closing;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.Ownership;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.PostException;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One thread posts operations between two queue pairs of a device and polls. Another thread closes
 * an object in the middle of an operation and overwrites the memory as soon as the call has
 * returned, as a program that unmaps or reuses it would. After that no byte of the memory may
 * change, and none may be copied elsewhere. Everything posted completes once and in order, unless
 * its queue was reset.
 */
final class ClosingRound {
  private static final Set<Access> ALL =
      EnumSet.of(
          Access.LOCAL_WRITE,
          Access.REMOTE_READ,
          Access.REMOTE_WRITE,
          Access.REMOTE_ATOMIC,
          Access.MW_BIND);
  private static final long DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int MOST_SPINS = 20_000;
  private static final int DEPTH = 64;
  private static final int BIND = 1 << 20;

  /** Bytes of the route header in front of a datagram. */
  private static final int ROUTE = 40;

  private static final int DATAGRAM = 1024;
  private static final int GUARDED = 64;
  private static final byte NEAR = 0x11;
  private static final byte FAR = 0x22;

  /** The value that overwrites closed memory; no operation writes this value. */
  private static final byte POISON = 0x5a;

  private final EmulatedDevice device;
  private final ProtectionDomain domain;
  private final Medium medium;
  private final Operation operation;
  private final Closing closing;
  private final SplittableRandom random;
  private final int length;
  private final ByteBuffer nearMemory;
  private final ByteBuffer farMemory;
  private final ByteBuffer otherMemory;
  private final WorkCompletion[] batch = WorkCompletion.array(16);
  private final AtomicInteger begun = new AtomicInteger();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private int posted;
  private int sendsCompleted;
  private int receivesCompleted;
  private volatile boolean bound;
  private @Nullable AddressHandle way;
  private int farNumber;

  ClosingRound(
      EmulatedDevice device,
      ProtectionDomain domain,
      Medium medium,
      Operation operation,
      Closing closing,
      SplittableRandom random) {
    this.device = device;
    this.domain = domain;
    this.medium = medium;
    this.operation = operation;
    this.closing = closing;
    this.random = random;
    length =
        switch (operation) {
          case FETCH_AND_ADD, COMPARE_AND_SWAP -> Long.BYTES;
          case DATAGRAM -> ROUTE + DATAGRAM;
          default -> medium.length;
        };
    nearMemory = filled(NEAR);
    farMemory = filled(FAR);
    otherMemory = filled(NEAR);
  }

  private ByteBuffer filled(byte value) {
    ByteBuffer memory = ByteBuffer.allocateDirect(length);
    fill(memory, value);
    return memory;
  }

  private static void fill(ByteBuffer memory, byte value) {
    for (int i = 0; i < memory.capacity(); i++) {
      memory.put(i, value);
    }
  }

  void run() throws Exception {
    CompletionQueue sends = device.createCompletionQueue(2 * DEPTH, null);
    CompletionQueue receives = device.createCompletionQueue(2 * DEPTH, null);
    SharedReceiveQueue shared =
        operation == Operation.SEND_TO_SHARED ? domain.createSharedReceiveQueue(DEPTH, 1) : null;
    QueuePairOptions options =
        QueuePairOptions.reliable(sends, receives, DEPTH, DEPTH)
            .withSignalAll()
            .withType(operation == Operation.DATAGRAM ? QueuePairType.UD : QueuePairType.RC);
    QueuePair near = domain.createQueuePair(options);
    QueuePair far =
        domain.createQueuePair(shared == null ? options : options.withSharedReceiveQueue(shared));
    MemoryRegion nearRegion = domain.register(nearMemory, ALL);
    MemoryRegion farRegion = domain.register(farMemory, ALL);
    connect(near, far);
    MemoryWindow window = closing.needsWindow() ? window(far, farRegion, sends) : null;
    MemoryRegion guarded = domain.register(ByteBuffer.allocateDirect(GUARDED), ALL);
    List<MemoryWindow> windows = invalidated(near, far, guarded, sends);
    postReceives(far, shared, farRegion);
    int key = window == null ? farRegion.rkey() : window.rkey();
    int[] keys =
        IntStream.range(0, medium.operations)
            .map(i -> windows.isEmpty() ? key : windows.get(i).rkey())
            .toArray();
    Thread poster =
        new Thread(() -> post(near, nearRegion, farRegion.address(), keys, sends, receives));
    poster.start();

    awaitTheMiddle(poster);
    close(near, far, nearRegion, farRegion, window, sends);

    poster.join(TimeUnit.NANOSECONDS.toMillis(DEADLINE_NANOS));
    assertThat(poster.isAlive()).as("the posting thread has not ended").isFalse();
    assertThat(failure.get()).isNull();
    fail(near);
    fail(far);
    drain(sends, receives);
    windows.forEach(MemoryWindow::close);
    near.close();
    far.close();
    poll(sends, receives);
    guarded.close();
    closeWay();
    closeIfOpen(nearRegion, farRegion, window);
    if (shared != null) {
      shared.close();
    }
    sends.close();
    receives.close();
    checkMemory("near", nearMemory, closing.closesNear);
    checkMemory("far", farMemory, closing.closesFar);
  }

  // ---- what is in flight

  private void connect(QueuePair near, QueuePair far) {
    if (operation == Operation.DATAGRAM) {
      Connections.prepareForDatagrams(near);
      Connections.prepareForDatagrams(far);
      way = domain.createAddressHandle(AddressVector.to(device.gid()));
      farNumber = far.number();
    } else {
      Connections.connect(device, near, far);
    }
  }

  private void closeWay() {
    AddressHandle handle = way;
    if (handle != null) {
      handle.close();
    }
  }

  /** Returns a type 2 window per operation that invalidates one, bound at the end that owns it. */
  private List<MemoryWindow> invalidated(
      QueuePair near, QueuePair far, MemoryRegion region, CompletionQueue queue) {
    List<MemoryWindow> windows = new ArrayList<>();
    QueuePair owner = operation == Operation.LOCAL_INVALIDATE ? near : far;
    for (int i = 0; operation.invalidates() && i < medium.operations; i++) {
      MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2B);
      windows.add(window);
      bound = false;
      owner.postSend(
          new SendWorkRequest()
              .id(BIND)
              .bind(window, window.rkey() + 1, region, Access.bits(Connections.REMOTE))
              .buffer(region.address(), GUARDED, region.lkey()));
      awaitBind(queue);
    }
    return windows;
  }

  private MemoryWindow window(QueuePair pair, MemoryRegion region, CompletionQueue queue) {
    MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
    bind(pair, window, region, length);
    awaitBind(queue);
    return window;
  }

  private void bind(QueuePair pair, MemoryWindow window, MemoryRegion region, int bytes) {
    bound = false;
    SendWorkRequest bind = new SendWorkRequest().id(BIND);
    pair.bindMemoryWindow(
        bind.bind(window, region, Access.bits(Connections.REMOTE))
            .buffer(region.address(), bytes, region.lkey()));
  }

  private void awaitBind(CompletionQueue queue) {
    long deadline = System.nanoTime() + DEADLINE_NANOS;
    for (int spins = 0; !bound; spins++) {
      pollSends(queue);
      assertThat(System.nanoTime()).as("the bind completes in time").isLessThan(deadline);
      Ownership.pause(spins);
    }
  }

  private void postReceives(
      QueuePair far, @Nullable SharedReceiveQueue shared, MemoryRegion region) {
    if (!operation.takesReceive()) {
      return;
    }
    for (int i = 0; i < medium.operations; i++) {
      ReceiveWorkRequest receive =
          new ReceiveWorkRequest(1).id(i).buffer(region.address(), length, region.lkey());
      if (shared == null) {
        far.postReceive(receive);
      } else {
        shared.postReceive(receive);
      }
    }
  }

  private void post(
      QueuePair near,
      MemoryRegion local,
      long remoteAddress,
      int[] keys,
      CompletionQueue sends,
      CompletionQueue receives) {
    try {
      long address = local.address();
      int key = local.lkey();
      for (int i = 0; i < medium.operations; i++) {
        SendWorkRequest request = new SendWorkRequest().id(i);
        begun.set(i + 1);
        near.postSend(describe(operation.request(request, remoteAddress, keys[i]), address, key));
        posted = i + 1;
        poll(sends, receives);
      }
    } catch (PostException e) {
      if (e.error() != VerbsError.CLOSED && e.error() != VerbsError.INVALID) {
        failure.set(e);
      }
    } catch (RuntimeException | Error e) {
      failure.set(e);
    }
  }

  private SendWorkRequest describe(SendWorkRequest request, long address, int key) {
    return switch (operation) {
      case LOCAL_INVALIDATE -> request;
      case DATAGRAM ->
          request
              .to(requireNonNull(way), farNumber, Connections.QUEUE_KEY)
              .buffer(address, DATAGRAM, key);
      default -> request.buffer(address, length, key);
    };
  }

  // ---- what is closed

  private void awaitTheMiddle(Thread poster) {
    int first = 1 + random.nextInt(medium.operations);
    int spins = random.nextInt(MOST_SPINS);
    long deadline = System.nanoTime() + DEADLINE_NANOS;
    for (int waits = 0; begun.get() < first && poster.isAlive(); waits++) {
      assertThat(System.nanoTime()).isLessThan(deadline);
      Ownership.pause(waits);
    }
    for (int i = 0; i < spins; i++) {
      Thread.onSpinWait();
    }
  }

  private void close(
      QueuePair near,
      QueuePair far,
      MemoryRegion nearRegion,
      MemoryRegion farRegion,
      @Nullable MemoryWindow window,
      CompletionQueue sends) {
    switch (closing) {
      case DEREGISTER_NEAR -> nearRegion.close();
      case DEREGISTER_FAR -> farRegion.close();
      case REREGISTER_NEAR -> nearRegion.reregister(null, otherMemory, null);
      case REREGISTER_FAR -> farRegion.reregister(null, otherMemory, null);
      case CLOSE_WINDOW -> {
        if (window != null) {
          window.close();
        }
      }
      case UNBIND_WINDOW -> {
        if (window != null) {
          bind(far, window, farRegion, 0);
          awaitBind(sends);
        }
      }
      case RESET_NEAR -> to(near, QueuePairState.RESET);
      case RESET_FAR -> to(far, QueuePairState.RESET);
      case CLOSE_NEAR -> near.close();
      case CLOSE_FAR -> far.close();
      case FAIL_NEAR -> to(near, QueuePairState.ERR);
      case FAIL_FAR -> to(far, QueuePairState.ERR);
    }
    if (closing.closesNear && closing.closesFar) {
      nearRegion.close();
      farRegion.close();
    }
    if (closing.closesNear) {
      fill(nearMemory, POISON);
    }
    if (closing.closesFar) {
      fill(farMemory, POISON);
    }
  }

  private static void to(QueuePair pair, QueuePairState state) {
    pair.modify(new QueuePairAttributes().state(state));
  }

  private static void fail(QueuePair pair) {
    if (pair.state() != QueuePairState.RESET && pair.state() != QueuePairState.ERR) {
      to(pair, QueuePairState.ERR);
    }
  }

  private static void closeIfOpen(
      MemoryRegion near, MemoryRegion far, @Nullable MemoryWindow window) {
    if (window != null) {
      window.close();
    }
    near.close();
    far.close();
  }

  // ---- what must hold

  private synchronized void poll(CompletionQueue sends, CompletionQueue receives) {
    pollSends(sends);
    for (int count = receives.poll(batch), i = 0; i < count; i++) {
      long id = batch[i].workRequestId();
      assertThat(batch[i].status()).as("receive %d", id).isIn(closing.statuses());
      assertThat(id).as("the next receive that completes").isEqualTo(receivesCompleted++);
    }
  }

  private synchronized void pollSends(CompletionQueue sends) {
    for (int count = sends.poll(batch), i = 0; i < count; i++) {
      long id = batch[i].workRequestId();
      if (id == BIND) {
        bound = true;
        continue;
      }
      assertThat(batch[i].status()).as("request %d", id).isIn(closing.statuses());
      assertThat(id).as("the next request that completes").isEqualTo(sendsCompleted++);
    }
  }

  /** Polls until everything that must complete has completed. */
  private void drain(CompletionQueue sends, CompletionQueue receives) {
    boolean allReceives = operation.takesReceive() && operation != Operation.SEND_TO_SHARED;
    long deadline = System.nanoTime() + DEADLINE_NANOS;
    for (int spins = 0;
        (closing.completesSends() && sendsCompleted < posted)
            || (allReceives
                && closing.completesReceives()
                && receivesCompleted < medium.operations);
        spins++) {
      poll(sends, receives);
      assertThat(System.nanoTime())
          .as(
              "requests completed: %d of %d, receives: %d of %d",
              sendsCompleted, posted, receivesCompleted, medium.operations)
          .isLessThan(deadline);
      Ownership.pause(spins);
    }
  }

  private void checkMemory(String whose, ByteBuffer memory, boolean closed) {
    // The bytes of the route header are not known.
    int first = operation == Operation.DATAGRAM && !closed ? ROUTE : 0;
    for (int i = first; i < length; i++) {
      byte now = memory.get(i);
      if (closed ? now != POISON : now == POISON) {
        assertThat(now)
            .as(
                closed
                    ? "byte %d of %s memory was written after it was closed"
                    : "byte %d of %s memory was copied from memory that was closed",
                i,
                whose)
            .isEqualTo(closed ? POISON : NEAR);
      }
    }
  }
}
