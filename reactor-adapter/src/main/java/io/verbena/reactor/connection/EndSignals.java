// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.verbena.RdmaException;
import io.verbena.RdmaTimeoutException;
import io.verbena.core.loop.Awaited;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.HeldUp;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.reactor.guard.HeldUpLoop;
import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Signals the ends of {@link #close}, {@link #onClose} and {@link #onPeerClosing} to their
 * subscribers. Only on the loop, unless a method says otherwise; where a subscriber holds the loop
 * up, the watchdog signals the timeout of a close on another thread.
 */
final class EndSignals implements Awaited {
  private final EndReason reason;
  private final CompletionLoop loop;
  private final Duration closeTimeout;
  private final Sinks.Empty<Void> peerClosing = Sinks.empty();
  private final Sinks.Empty<Void> closed = Sinks.empty();
  private final Sinks.Empty<Void> ended = Sinks.empty();
  private final Mono<Void> close;
  private volatile boolean over;

  /**
   * @param closeGracefully run on the loop by each subscription to {@link #close}
   */
  EndSignals(
      EndReason reason, CompletionLoop loop, Duration closeTimeout, Runnable closeGracefully) {
    this.reason = reason;
    this.loop = loop;
    this.closeTimeout = closeTimeout;
    close =
        Mono.defer(
            () -> {
              startClose();
              loop.execute(closeGracefully);
              return FailureGuard.guarded(closed.asMono());
            });
  }

  /** Lets the watchdog keep the deadline of the close from now on; from any thread. */
  void startClose() {
    if (!over) {
      loop.waiters().add(this);
      if (over) {
        loop.waiters().remove(this);
      }
    }
  }

  @Override
  public long patience() {
    return closeTimeout.toNanos();
  }

  @Override
  public Runnable expire(HeldUp why) {
    RdmaException error = HeldUpLoop.timeout("close", reason.peer(), closeTimeout, why);
    return () -> {
      closed.tryEmitError(error);
      ended.tryEmitError(error);
    };
  }

  /**
   * Returns a Mono that closes the connection, and completes when it has ended without a failure.
   */
  Mono<Void> close() {
    return close;
  }

  /** Returns a Mono that completes when the connection has ended, or fails with the reason. */
  Mono<Void> onClose() {
    return FailureGuard.guarded(ended.asMono());
  }

  /**
   * Returns a Mono that completes when the peer has begun to close, or the connection has ended.
   */
  Mono<Void> onPeerClosing() {
    return FailureGuard.guarded(peerClosing.asMono());
  }

  /** Completes {@link #onPeerClosing}; idempotent. */
  void signalPeerClosing() {
    peerClosing.tryEmitEmpty();
  }

  /**
   * Ends {@link #close}: completes it, or fails it with the reason.
   *
   * @param closedHere whether this end had begun to close
   */
  void signalClosers(boolean closedHere) {
    RdmaException why = reason.cause();
    if (why == null && !(reason.isDisposed() && closedHere)) {
      closed.tryEmitEmpty();
    } else {
      closed.tryEmitError(why instanceof RdmaTimeoutException ? why : reason.closed("close"));
    }
  }

  /** Ends {@link #onClose}: completes it, or fails it with the reason. */
  void signalEnded() {
    over = true;
    loop.waiters().remove(this);
    RdmaException why = reason.cause();
    if (why == null) {
      ended.tryEmitEmpty();
    } else {
      ended.tryEmitError(why);
    }
  }
}
