// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

import io.netty.buffer.ByteBuf;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.VerbsException;
import org.jspecify.annotations.Nullable;

/** The receives of one connection from a {@link ReceivePool}. Only on the loop. */
public final class ReceiveShare implements Receives {
  static final int NO_NUMBER = -1;

  private final ReceivePool pool;
  private int number = NO_NUMBER;
  private ReceivePool.@Nullable User user;
  private int extra;
  private int completed;
  private int completedAtLook = -1;

  /** The pool's period of {@link #completedInPeriod}. */
  private int period;

  private int completedInPeriod;

  private boolean released;

  ReceiveShare(ReceivePool pool) {
    this.pool = pool;
  }

  /**
   * Returns options of an RC queue pair that takes receives from a pool, or has its own.
   *
   * @param completions the completion queue of the sends, and of own receives
   * @param share the share of the pool, or null for own receives
   * @param sends the depth of the send queue
   * @param receives the depth of the own receive queue, if there is one
   */
  public static QueuePairOptions reliable(
      CompletionQueue completions, @Nullable ReceiveShare share, int sends, int receives) {
    return share == null
        ? QueuePairOptions.reliable(completions, completions, sends, receives)
        : QueuePairOptions.reliable(completions, share.pool.completionQueue(), sends, 0)
            .withSharedReceiveQueue(share.pool.queue());
  }

  /**
   * Brings a queue pair into its error state. Afterwards posted requests are flushed, and the
   * receives that it has taken from a pool have completed. Changes the state even if the queue pair
   * is in error already, for example after the peer has disconnected: another thread may still be
   * flushing it, and only a change of state waits for that.
   *
   * @throws VerbsException if the HCA refuses
   */
  public static void stop(QueuePair pair) {
    try {
      pair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
    } catch (VerbsException e) {
      // A device that is gone has flushed all requests.
      if (pair.state() != QueuePairState.ERR) {
        throw e;
      }
    }
  }

  /**
   * Passes the receives of this queue pair to {@code to}. To be called before the queue pair can
   * receive.
   */
  public void serve(int queuePairNumber, ReceivePool.User to) {
    number = queuePairNumber;
    user = to;
    pool.serve(queuePairNumber, this);
  }

  /** Counts a completed receive; returns its user. */
  ReceivePool.User arrived() {
    completed++;
    if (period != pool.period()) {
      period = pool.period();
      completedInPeriod = 0;
    }
    if (++completedInPeriod == ReceivePool.BUSY) {
      pool.becameBusy();
    }
    ReceivePool.User to = user;
    if (to == null) {
      throw new IllegalStateException("a receive without an owner");
    }
    return to;
  }

  /** Called when the HCA has refused a receive whose frame this share gave back. */
  void refused(Throwable why) {
    ReceivePool.User to = user;
    if (to != null && !released) {
      to.receiveRefused(why);
    }
  }

  int extra() {
    return extra;
  }

  @Override
  public int grow(int wanted) {
    int granted = pool.grow(wanted, extra);
    extra += granted;
    return granted;
  }

  @Override
  public void shrink(int count) {
    pool.shrink(count, extra);
    extra -= count;
  }

  @Override
  public boolean hasMoreThanItsPart() {
    return pool.hasMoreThanItsPart(extra);
  }

  @Override
  public void giveBack(ByteBuf frame) {
    pool.giveBack(frame, this);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Posts those of all connections of the pool.
   */
  @Override
  public void post() {
    pool.post();
  }

  @Override
  public int completed() {
    return completed;
  }

  /**
   * {@inheritDoc}
   *
   * <p>Does nothing: posted receives serve all connections.
   */
  @Override
  public void halt() {}

  /**
   * {@inheritDoc}
   *
   * <p>Receives of a shared queue are not flushed. The completion queue has the completions of
   * those that the HCA has taken by now: none is left if another poll finds none.
   */
  @Override
  public Flush flushed() {
    if (completedAtLook == completed) {
      return Flush.DONE;
    }
    completedAtLook = completed;
    return Flush.LOOK_AGAIN;
  }

  @Override
  public void release() {
    if (!released) {
      released = true;
      int held = extra;
      extra = 0;
      pool.leave(number, held);
    }
  }
}
