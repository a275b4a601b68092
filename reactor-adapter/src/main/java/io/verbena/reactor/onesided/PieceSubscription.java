// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.onesided;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaException;
import io.verbena.RemoteMemory;
import io.verbena.core.loop.ScheduledTask;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Operators;

/**
 * The reads of a {@link PieceFlux}: as many at once as were requested, up to {@link
 * #MOST_IN_FLIGHT}. They end in the order in which they were posted, so pieces need no sorting.
 */
final class PieceSubscription extends ScheduledTask implements Subscription {
  private static final int MOST_IN_FLIGHT = 16;
  private static final AtomicLongFieldUpdater<PieceSubscription> REQUESTED =
      AtomicLongFieldUpdater.newUpdater(PieceSubscription.class, "requested");

  private final CoreSubscriber<? super ByteBuf> actual;
  private final OneSidedOperations oneSided;
  private final RemoteMemory from;
  private final int pieceLength;
  private final ArrayDeque<Piece> inFlight = new ArrayDeque<>(MOST_IN_FLIGHT);
  private volatile long requested;
  private volatile boolean cancelled;
  private long begun;
  private long offset;
  private boolean ended;
  private boolean advancing;

  /** Whether onNext is being called: an error waits until it has returned. */
  private boolean delivering;

  /** The error of a piece that failed while {@link #delivering}. */
  private @Nullable Throwable failure;

  PieceSubscription(
      CoreSubscriber<? super ByteBuf> actual,
      OneSidedOperations oneSided,
      RemoteMemory from,
      int pieceLength) {
    this.actual = actual;
    this.oneSided = oneSided;
    this.from = from;
    this.pieceLength = pieceLength;
  }

  void start() {
    try {
      actual.onSubscribe(this);
    } catch (Throwable thrown) {
      cancel();
      throw thrown;
    }
    if (from.length() > 0) {
      wake();
    } else if (!cancelled) {
      ended = true;
      actual.onComplete();
    }
  }

  @Override
  public void request(long n) {
    if (Operators.validate(n)) {
      Operators.addCap(REQUESTED, this, n);
      wake();
    }
  }

  @Override
  public void cancel() {
    cancelled = true;
    wake();
  }

  private void wake() {
    if (oneSided.loop().inLoop()) {
      run();
    } else {
      oneSided.loop().schedule(this);
    }
  }

  @Override
  public void run() {
    try {
      turn();
    } catch (Throwable thrown) {
      oneSided.guard().broke(thrown);
    }
  }

  private void turn() {
    if (cancelled) {
      stop();
      return;
    }
    if (advancing || delivering || isRefused()) {
      return;
    }
    advancing = true;
    try {
      while (!ended
          && !cancelled
          && offset < from.length()
          && begun < requested
          && inFlight.size() < MOST_IN_FLIGHT) {
        long length = Math.min(pieceLength, from.length() - offset);
        RemoteMemory part = from.slice(offset, length);
        offset += length;
        begun++;
        Piece piece = new Piece();
        inFlight.add(piece);
        oneSided.read(part).subscribe(piece);
      }
    } finally {
      advancing = false;
    }
  }

  /**
   * Fails the subscription if the connection is closed and no piece is in flight; returns whether
   * it did.
   */
  private boolean isRefused() {
    RdmaException refusal =
        ended || !inFlight.isEmpty() || offset == from.length()
            ? null
            : oneSided.admission().refuse("read");
    if (refusal == null) {
      return false;
    }
    ended = true;
    oneSided.guard().emitError(actual, refusal);
    return true;
  }

  private void stop() {
    ended = true;
    while (!inFlight.isEmpty()) {
      inFlight.remove().cancel();
    }
  }

  private void arrived(Piece piece, ByteBuf buffer) {
    inFlight.remove(piece);
    if (ended || cancelled) {
      buffer.release();
      return;
    }
    boolean last = offset == from.length() && inFlight.isEmpty();
    ended = last;
    delivering = true;
    boolean taken = oneSided.guard().emitNext(actual, buffer, "read");
    delivering = false;
    Throwable failed = failure;
    if (!taken) {
      stop();
    } else if (failed != null) {
      fail(failed);
    } else if (last) {
      if (!cancelled) {
        oneSided.guard().emitComplete(actual);
      }
    } else {
      run();
    }
  }

  private void failed(Piece piece, Throwable error) {
    inFlight.remove(piece);
    if (ended) {
      return;
    }
    stop();
    if (delivering) {
      failure = error;
    } else {
      fail(error);
    }
  }

  private void fail(Throwable error) {
    if (!cancelled) {
      oneSided.guard().emitError(actual, error);
    }
  }

  /** The subscriber of one piece. */
  private final class Piece extends BaseSubscriber<ByteBuf> {
    @Override
    protected void hookOnNext(ByteBuf buffer) {
      arrived(this, buffer);
    }

    @Override
    protected void hookOnError(Throwable error) {
      if (oneSided.loop().inLoop()) {
        failed(this, error);
      } else {
        // A watchdog may call this; only the loop orders the pieces.
        oneSided.loop().execute(() -> failed(this, error));
      }
    }
  }
}
