// SPDX-License-Identifier: Apache-2.0
package io.verbena.stress;

import io.verbena.emulated.cm.local.LocalConnectionManagers;
import io.verbena.emulated.direct.DirectFabric;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PostException;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Two connected queue pairs with 8 bytes of memory each, on a fabric of their own, so that pairs do
 * not affect each other. The user of the pair closes it.
 */
final class ConnectedPair {
  /** The bytes that memory is overwritten with once it is closed. */
  static final long POISON = 0x5a5a_5a5a_5a5a_5a5aL;

  /** The results of {@link #sent}: no completion, success, a refusal, any other status. */
  static final int NONE = -1;

  static final int GOOD = 0;
  static final int REFUSED = 1;
  static final int OTHER = 2;

  private static final Set<Access> REMOTE =
      EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);
  private static final Set<Access> ALL =
      EnumSet.of(
          Access.LOCAL_WRITE,
          Access.REMOTE_READ,
          Access.REMOTE_WRITE,
          Access.REMOTE_ATOMIC,
          Access.MW_BIND);

  /** Memory of which each region gets a cache line in turn; the last is followed by the first. */
  private static final ByteBuffer MEMORY = ByteBuffer.allocateDirect(1 << 20).alignedSlice(64);

  private static final int LINE = 64;
  private static final AtomicInteger NEXT = new AtomicInteger();
  private static final int DEPTH = 4;

  final EmulatedDevice device =
      EmulatedDevice.open(new DirectFabric(), DeviceLimits.FULL, new LocalConnectionManagers());
  final ProtectionDomain domain = device.allocateProtectionDomain();
  final CompletionQueue sends = device.createCompletionQueue(DEPTH, null);
  final CompletionQueue receives = device.createCompletionQueue(DEPTH, null);
  final ByteBuffer nearMemory = line(0x11);
  final ByteBuffer farMemory = line(0x22);
  final MemoryRegion nearRegion = domain.register(nearMemory, ALL);
  final MemoryRegion farRegion = domain.register(farMemory, ALL);
  final @Nullable SharedReceiveQueue shared;
  final QueuePair near;
  final QueuePair far;
  private final WorkCompletion[] one = WorkCompletion.array(1);

  ConnectedPair() {
    this(false);
  }

  /**
   * Creates a pair whose far end takes from a shared receive queue of one receive, if {@code
   * sharing}.
   */
  ConnectedPair(boolean sharing) {
    shared = sharing ? domain.createSharedReceiveQueue(1, 1) : null;
    QueuePairOptions options =
        QueuePairOptions.reliable(sends, receives, DEPTH, DEPTH).withSignalAll();
    near = domain.createQueuePair(options);
    far = domain.createQueuePair(shared == null ? options : options.withSharedReceiveQueue(shared));
    connect(near, far);
    connect(far, near);
  }

  private static ByteBuffer line(int value) {
    return lineOf(Long.BYTES).putLong(0, value);
  }

  /** Returns memory at the start of the next cache line. */
  static ByteBuffer lineOf(int bytes) {
    int lines = MEMORY.capacity() / LINE;
    int at = Math.floorMod(NEXT.getAndIncrement(), lines) * LINE;
    return MEMORY.slice(at, bytes);
  }

  private void connect(QueuePair pair, QueuePair to) {
    pair.modify(
        new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1).access(REMOTE));
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTR)
            .addressVector(AddressVector.to(device.gid()))
            .pathMtu(Mtu.MTU_4096)
            .destinationQueuePair(to.number())
            .receivePsn(1)
            .maxDestinationReadAtomic(1)
            .minRnrTimer(0));
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTS)
            .timeout(0)
            .retryCount(7)
            .rnrRetry(7)
            .sendPsn(1)
            .maxReadAtomic(1));
  }

  /** Posts a receive at the far end. */
  ConnectedPair receiving() {
    ReceiveWorkRequest receive =
        new ReceiveWorkRequest().buffer(farRegion.address(), Long.BYTES, farRegion.lkey());
    if (shared == null) {
      far.postReceive(receive);
    } else {
      shared.postReceive(receive);
    }
    return this;
  }

  /** Returns a new request for the near end, without an operation. */
  SendWorkRequest request() {
    return new SendWorkRequest();
  }

  void write(int key) {
    post(request().write(farRegion.address(), key));
  }

  /** Posts a request at the near end. Ignores the error of a closed or reset queue pair. */
  void post(SendWorkRequest request) {
    try {
      near.postSend(request.buffer(nearRegion.address(), Long.BYTES, nearRegion.lkey()));
    } catch (PostException e) {
      // The request has no completion, which the outcomes show.
    }
  }

  /** Returns the result of the near end's request. */
  int sent() {
    if (sends.poll(one) == 0) {
      return NONE;
    }
    CompletionStatus status = one[0].status();
    return switch (status) {
      case SUCCESS -> GOOD;
      case LOC_PROT_ERR, REM_ACCESS_ERR, REM_OP_ERR -> REFUSED;
      default -> OTHER;
    };
  }

  /** Polls all completions of a queue and returns their number. */
  int count(CompletionQueue queue) {
    int count = 0;
    while (queue.poll(one) > 0) {
      count++;
    }
    return count;
  }

  static void to(QueuePair pair, QueuePairState state) {
    pair.modify(new QueuePairAttributes().state(state));
  }

  /** Overwrites memory, as its next user would after the deregistration. */
  static void overwrite(ByteBuffer memory) {
    memory.putLong(0, POISON);
  }

  static int isOverwritten(ByteBuffer memory) {
    return memory.getLong(0) == POISON ? 1 : 0;
  }

  /** Closes all open objects. */
  void close() {
    near.close();
    far.close();
    nearRegion.close();
    farRegion.close();
    if (shared != null) {
      shared.close();
    }
    sends.close();
    receives.close();
    domain.close();
    device.close();
  }
}
