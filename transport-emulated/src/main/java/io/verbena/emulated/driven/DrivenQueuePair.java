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
 * The queues of a queue pair whose requests an engine does. Posting copies a request in and rings;
 * the driver of the fabric then {@linkplain #serve serves} the queue pair. A single READ is served
 * by the thread that posts it, if nobody else is in the engines.
 */
public abstract class DrivenQueuePair extends EmulatedQueuePair {
  private final TurnFabric fabric;
  private final SendQueue sends;
  private final ReceiveRing receives;

  /** With a shared receive queue: each receive passes through {@link #receives}. */
  private final @Nullable TakenReceives taken;

  private final EngineHost host;
  private final Doorbells.Bell bell = new Doorbells.Bell(this);
  private boolean lastReceiveTold;

  protected DrivenQueuePair(
      TurnFabric fabric, EmulatedProtectionDomain domain, int number, QueuePairOptions options) {
    super(domain, number, options);
    this.fabric = fabric;
    sends = new SendQueue(this, options);
    EmulatedSharedReceiveQueue shared = shared();
    taken = shared == null ? null : new TakenReceives(shared, this);
    receives =
        shared == null
            ? new ReceiveRing(options.maxReceive(), options.maxReceiveScatterGather())
            : new ReceiveRing(1, shared.maxScatterGather());
    host = new EngineHost(this);
  }

  final TurnFabric turns() {
    return fabric;
  }

  final ReceiveRing receives() {
    return receives;
  }

  /** Returns the most buffers that a receive may have. */
  public final int maxReceiveScatterGather() {
    return receives.maxScatterGather();
  }

  /** Returns the send queue, whose requests the engine does. */
  protected final SendQueue sends() {
    return sends;
  }

  /** Returns the HCA as the engine sees it. */
  protected final EngineHost host() {
    return host;
  }

  /** Returns whether {@link #receives} holds a receive; for the caller of the engine. */
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
      if (fabric.isDrivenByPolling()
          && request.opcode() == SendOpcode.RDMA_READ
          && request.next() == null) {
        // Where this end may copy by itself, a doorbell and its turn cost a third of a READ of 4
        // KiB.
        fabric.serveNow(bell);
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
      // Either this sees ERR, or the engine, which goes there before it flushes, sees the receive.
      VarHandle.fullFence();
      // The engine needs to see a receive only to flush it; else it takes it when a message comes.
      if (state() == QueuePairState.ERR) {
        ring();
      }
    }
  }

  /** Rings for a call of {@link #serve}; for any thread. */
  public final void ring() {
    fabric.ring(bell);
  }

  /**
   * Does what the queue pair was rung for; true if there is more to send. For the caller of the
   * engine.
   */
  protected abstract boolean serve();

  /** Called when the first message has come in RTR, by the caller of the engine. */
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
  protected final void tellPolled() {
    if (taken != null) {
      taken.tell();
    }
  }

  /** Drops all that is posted, without completions; for the caller of the engine. */
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

  /** Takes shared receives again; for the caller of the engine. */
  protected final void takesReceives() {
    lastReceiveTold = false;
  }

  /**
   * Notes that no more shared receives are taken; false if that is noted already. For the caller of
   * the engine.
   */
  final boolean tellsLastReceive() {
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
