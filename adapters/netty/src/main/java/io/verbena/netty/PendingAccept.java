// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.util.concurrent.Future;
import io.verbena.RejectReason;
import io.verbena.core.cm.ConnectionSlots;
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
  private final SharedHca hca;
  private final AtomicBoolean hasSlot = new AtomicBoolean(true);
  private @Nullable Future<?> answer;
  private @Nullable Future<?> timer;

  /**
   * The slot is taken.
   *
   * @param hca of the listener
   */
  PendingAccept(ConnectionEvent event, ConnectionSlots slots, SharedHca hca) {
    this.event = event;
    this.slots = slots;
    this.hca = hca;
  }

  ConnectionEvent event() {
    return event;
  }

  /** Returns the HCA of the listener. */
  SharedHca hca() {
    return hca;
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
    hca.dispatcher().forget(event.identifier());
    close(event.identifier(), hca);
  }

  /** Ends a request that a hook refuses. */
  void refuse(RejectReason reason) {
    // Before the reject: the client may ask again at once.
    releaseSlot();
    refuse(event.identifier(), reason, hca);
  }

  /** Refuses a connect request. */
  static void refuse(ConnectionIdentifier identifier, RejectReason reason, SharedHca at) {
    at.meter().refused(reason.code());
    try {
      identifier.reject(Rejection.encode(reason));
    } catch (VerbsException e) {
      // The client is gone: the reject has no receiver.
    } finally {
      close(identifier, at);
    }
  }

  /** Closes a connect request that is not accepted. */
  static void close(ConnectionIdentifier identifier, SharedHca at) {
    at.close("connect request", identifier::close);
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
      hca.guarded(() -> pending.cancel(false));
    }
  }
}
