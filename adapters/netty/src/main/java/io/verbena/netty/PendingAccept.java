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

/** A connect request, with its slot among the server's connections, which is released once. */
final class PendingAccept {
  private final ConnectionEvent event;
  private final ConnectionSlots slots;
  private final SharedHca hca;
  private final AtomicBoolean hasSlot = new AtomicBoolean(true);
  private @Nullable Future<?> answer;
  private @Nullable Future<?> timer;

  /**
   * Creates it for a request whose slot is taken.
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

  /** Releases the slot. Idempotent. */
  void releaseSlot() {
    if (hasSlot.compareAndSet(true, false)) {
      slots.release(event.identifier().remoteAddress());
    }
  }

  /** Closes the request without accepting it, and without a reason for the client. */
  void drop() {
    releaseSlot();
    hca.dispatcher().forget(event.identifier());
    close(event.identifier(), hca);
  }

  /** Refuses the request, with the reason of the accept hook. */
  void refuse(RejectReason reason) {
    // Before the reject: the client may connect again at once.
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

  /** Sets the hook's answer and the timer that it waits for; null for none. */
  void waitFor(@Nullable Future<?> newAnswer, @Nullable Future<?> newTimer) {
    answer = newAnswer;
    timer = newTimer;
  }

  /** Stops waiting: cancels the timer and the hook's answer. */
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
