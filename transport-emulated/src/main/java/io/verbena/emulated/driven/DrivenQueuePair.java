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
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import java.lang.invoke.VarHandle;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair whose requests an engine does: its queues. Posts copy requests in and ring; whoever
 * drives the fabric then has it {@linkplain #serve served}.
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

  /** The most buffers of a receive that it takes. */
  public final int maxReceiveScatterGather() {
    return receives.maxScatterGather();
  }

  /** What its engine works off. */
  protected final SendQueue sends() {
    return sends;
  }

  /** What its engine sees of the HCA. */
  protected final EngineHost host() {
    return host;
  }

  /** For the caller of the engine: whether there is a receive, which {@link #receives} tells of. */
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
      ring();
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
      // A receive matters to the engine only as one to flush: it is taken when a message comes.
      if (state() == QueuePairState.ERR) {
        ring();
      }
    }
  }

  /** Rings for a call of {@link #serve}; for any thread. */
  public final void ring() {
    fabric.ring(bell);
  }

  /** For the caller of the engine: does what it was rung for; true if there is more to send. */
  protected abstract boolean serve();

  /** For the caller of the engine: in RTR, the first message has come. */
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

  /** For the caller of the engine: drops all that is posted, without completions. */
  protected final void dropPosted() {
    sends.clear();
    receives.posting.acquire();
    long end = receives.clear();
    receives.posting.release();
    if (taken != null) {
      taken.drop(end);
    }
  }

  /** Who comes and finds none is told by the engine. */
  @Override
  protected final void receivePosted() {}

  /** For the caller of the engine: it takes shared receives again. */
  protected final void takesReceives() {
    lastReceiveTold = false;
  }

  /** For the caller of the engine: once it takes no more shared receives; false if told already. */
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

  /** It has the fabric's turn, so nobody else copies, and awaiting the turn is no waiting. */
  @Override
  protected final void beginWait() {}

  @Override
  protected final void endWait() {}
}
