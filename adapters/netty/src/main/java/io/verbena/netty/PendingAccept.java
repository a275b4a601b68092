// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.util.concurrent.Future;
import io.verbena.RejectReason;
import io.verbena.core.cm.ConnectionEventDispatcher;
import io.verbena.core.cm.ConnectionSlots;
import io.verbena.meters.HcaMeter;
import io.verbena.netty.wire.Rejection;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.VerbsException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A connect request with its slot among the server's connections, which is given back once. */
final class PendingAccept {
  private final ConnectionEvent event;
  private final ConnectionSlots slots;
  private final ConnectionEventDispatcher dispatcher;
  private final AtomicBoolean hasSlot = new AtomicBoolean(true);
  private @Nullable Future<?> answer;
  private @Nullable Future<?> timer;

  /**
   * The slot is taken.
   *
   * @param dispatcher of the listener's HCA
   */
  PendingAccept(
      ConnectionEvent event, ConnectionSlots slots, ConnectionEventDispatcher dispatcher) {
    this.event = event;
    this.slots = slots;
    this.dispatcher = dispatcher;
  }

  ConnectionEvent event() {
    return event;
  }

  /** Gives the slot back, if it has it. */
  void releaseSlot() {
    if (hasSlot.compareAndSet(true, false)) {
      slots.release(event.identifier().remoteAddress());
    }
  }

  /** Ends a request that is not accepted, without a reason. */
  void drop() {
    releaseSlot();
    dispatcher.forget(event.identifier());
    event.identifier().close();
  }

  /** Ends a request that a hook refuses. */
  void refuse(RejectReason reason, HcaMeter meter) {
    // Before the reject: the client may ask again at once.
    releaseSlot();
    refuse(event.identifier(), reason, meter);
  }

  /** Refuses a connect request. */
  static void refuse(ConnectionIdentifier identifier, RejectReason reason, HcaMeter meter) {
    meter.refused(reason.code());
    try {
      identifier.reject(Rejection.encode(reason));
    } catch (VerbsException e) {
      // The client is gone: the reject has no receiver.
    } finally {
      identifier.close();
    }
  }

  // ---- the hook; on the server channel's event loop

  /** It waits for the hook. */
  void waitFor(@Nullable Future<?> newAnswer, @Nullable Future<?> newTimer) {
    answer = newAnswer;
    timer = newTimer;
  }

  /** It waits no more, and what the hook still does is cancelled. */
  void stopWaiting() {
    Future<?> pending = answer;
    Future<?> running = timer;
    waitFor(null, null);
    if (running != null) {
      running.cancel(false);
    }
    if (pending != null) {
      pending.cancel(false);
    }
  }
}
