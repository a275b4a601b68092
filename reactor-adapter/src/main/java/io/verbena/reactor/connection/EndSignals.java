// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.verbena.RdmaException;
import io.verbena.RdmaTimeoutException;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.reactor.guard.FailureGuard;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Tells those who close a connection, and those who wait for its end or for the peer's close. */
final class EndSignals {
  private final EndReason reason;
  private final Sinks.Empty<Void> peerClosing = Sinks.empty();
  private final Sinks.Empty<Void> closed = Sinks.empty();
  private final Sinks.Empty<Void> ended = Sinks.empty();
  private final Mono<Void> close;

  /**
   * @param closeGracefully run on the loop by each subscription to {@link #close}
   */
  EndSignals(EndReason reason, CompletionLoop loop, Runnable closeGracefully) {
    this.reason = reason;
    close =
        Mono.defer(
            () -> {
              loop.execute(closeGracefully);
              return FailureGuard.guarded(closed.asMono());
            });
  }

  /** Closes the connection, and completes when it has ended in good order. */
  Mono<Void> close() {
    return close;
  }

  /** Completes when the connection has ended, or fails with what went wrong. */
  Mono<Void> onClose() {
    return FailureGuard.guarded(ended.asMono());
  }

  /** Completes when the peer has begun to close, or the connection has ended. */
  Mono<Void> onPeerClosing() {
    return FailureGuard.guarded(peerClosing.asMono());
  }

  /** Tells those who wait for the peer to close; idempotent. */
  void tellPeerClosing() {
    peerClosing.tryEmitEmpty();
  }

  /**
   * Tells those who close.
   *
   * @param closedHere whether this end had begun to close
   */
  void tellClosers(boolean closedHere) {
    RdmaException why = reason.cause();
    if (why == null && !(reason.isDisposed() && closedHere)) {
      closed.tryEmitEmpty();
    } else {
      closed.tryEmitError(why instanceof RdmaTimeoutException ? why : reason.closed("close"));
    }
  }

  /** Tells those who wait for the end. */
  void tellEnded() {
    RdmaException why = reason.cause();
    if (why == null) {
      ended.tryEmitEmpty();
    } else {
      ended.tryEmitError(why);
    }
  }
}
