// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.driven;

import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.hca.EmulatedSharedReceiveQueue;
import io.verbena.emulated.hca.ReceiveRing;
import io.verbena.emulated.hca.TakenReceives;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairReading.Figure;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import java.lang.invoke.VarHandle;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair whose requests an engine executes. Posting copies a request and rings a doorbell;
 * the driver of the fabric then {@linkplain #serve serves} the queue pair. The posting thread
 * itself {@linkplain DrivenFabric#serveNow may serve} a single request.
 */
public abstract class DrivenQueuePair extends EmulatedQueuePair {
  private final DrivenFabric fabric;
  private final SendQueue sends;
  private final ReceiveRing receives;

  /**
   * Not null with a shared receive queue, from which each receive passes through {@link #receives}.
   */
  private final @Nullable TakenReceives taken;

  private final HcaEngineHost host;
  private final Doorbells.Bell bell = new Doorbells.Bell(this);
  private boolean lastReceiveTold;

  protected DrivenQueuePair(
      DrivenFabric fabric, EmulatedProtectionDomain domain, int number, QueuePairOptions options) {
    super(domain, number, options);
    this.fabric = fabric;
    sends = new SendQueue(this, options);
    EmulatedSharedReceiveQueue shared = shared();
    taken = shared == null ? null : new TakenReceives(shared, this);
    receives =
        shared == null
            ? new ReceiveRing(options.maxReceive(), options.maxReceiveScatterGather())
            : new ReceiveRing(1, shared.maxScatterGather());
    host = new HcaEngineHost(this);
  }

  final DrivenFabric turns() {
    return fabric;
  }

  final ReceiveRing receives() {
    return receives;
  }

  /** Returns the maximum number of buffers of a receive. */
  public final int maxReceiveScatterGather() {
    return receives.maxScatterGather();
  }

  /** Returns the send queue, whose requests the engine executes. */
  protected final SendQueue sends() {
    return sends;
  }

  /** Returns the HCA as the engine sees it. */
  protected final HcaEngineHost host() {
    return host;
  }

  /**
   * Returns whether {@link #receives} holds a receive. Called by the thread that calls the engine.
   */
  final boolean hasReceive() {
    return receives.hasNext() || (taken != null && taken.takeInto(receives) && receives.hasNext());
  }

  @Override
  public final void postSend(SendWorkRequest request) {
    sends.posting.acquire();
    try {
      for (SendWorkRequest next = request; next != null; next = next.next()) {
        sends.post(next);
      }
    } finally {
      sends.posting.release();
      if (fabric.isDrivenByPolling() && request.next() == null) {
        // A doorbell and its turn cost a third of a READ of 4 KiB that this end copies by itself.
        fabric.serveNow(bell, request.opcode() == SendOpcode.RDMA_READ);
      } else {
        ring();
      }
    }
  }

  @Override
  public final void bindMemoryWindow(SendWorkRequest request) {
    sends.posting.acquire();
    try {
      sends.bind(request);
    } finally {
      sends.posting.release();
      ring();
    }
  }

  @Override
  public final void postReceive(ReceiveWorkRequest request) {
    if (taken != null) {
      throw new PostException(
          VerbsError.INVALID, request.id(), "the queue pair takes from a shared receive queue");
    }
    receives.posting.acquire();
    try {
      if (isClosed()) {
        throw closedError(request.id());
      }
      if (state() == QueuePairState.RESET) {
        throw new PostException(
            VerbsError.INVALID, request.id(), "state: RESET (expected: INIT or later)");
      }
      for (ReceiveWorkRequest next = request; next != null; next = next.next()) {
        receives.post(next);
      }
    } finally {
      receives.posting.release();
      // Either this thread sees ERR, or the engine, which moves to ERR before it flushes, sees the
      // receive.
      VarHandle.fullFence();
      // The engine needs to know of a receive only to flush it; otherwise it takes the receive when
      // a message arrives.
      if (state() == QueuePairState.ERR) {
        ring();
      }
    }
  }

  /** Rings the doorbell, for a call of {@link #serve}. Thread-safe. */
  public final void ring() {
    fabric.ring(bell);
  }

  /**
   * Does the work for which the queue pair rang; returns whether there is more to send. Called by
   * the thread that calls the engine.
   */
  protected abstract boolean serve();

  /** Called when the first message has arrived in RTR, by the thread that calls the engine. */
  protected void communicationEstablished() {}

  @Override
  protected final void readQueues(Map<Figure, Long> into) {
    sends.read(into);
    receives.read(taken, into);
  }

  @Override
  protected final void freeSends(long position) {
    sends.free(position);
  }

  @Override
  protected final void freeReceives(long position) {
    receives.free(position);
    if (taken != null) {
      taken.polled(position);
    }
  }

  @Override
  protected final void reportPolled() {
    if (taken != null) {
      taken.report();
    }
  }

  /**
   * Drops all posted requests and receives, without completions. Called by the thread that calls
   * the engine.
   */
  protected final void dropPosted() {
    sends.clear();
    receives.posting.acquire();
    long end = receives.clear();
    receives.posting.release();
    if (taken != null) {
      taken.drop(end);
    }
  }

  /** Nothing to do: the engine answers a sender that finds no receive. */
  @Override
  protected final void receivePosted() {}

  /** Records that shared receives are taken again. Called by the thread that calls the engine. */
  protected final void takesReceives() {
    lastReceiveTold = false;
  }

  /**
   * Records that no more shared receives are taken; returns false if that was recorded already.
   * Called by the thread that calls the engine.
   */
  final boolean reportsLastReceive() {
    boolean first = !lastReceiveTold;
    lastReceiveTold = true;
    return first;
  }

  @Override
  protected final void awaitHandover() {
    fabric.awaitTurn();
  }

  @Override
  protected final void awaitCopies() {
    fabric.awaitTurn();
  }

  /**
   * Nothing to do: the caller has the fabric's turn, so no other thread copies, and awaiting the
   * turn does not block.
   */
  @Override
  protected final void beginWait() {}

  @Override
  protected final void endWait() {}
}
