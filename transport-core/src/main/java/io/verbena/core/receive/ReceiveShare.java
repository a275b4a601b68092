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

  /** The pool's period in which so many receives have completed. */
  private int period;

  private int completedInPeriod;

  private boolean released;

  ReceiveShare(ReceivePool pool) {
    this.pool = pool;
  }

  /**
   * Returns options of an RC queue pair that takes receives from a pool.
   *
   * @param completions of its sends, and of receives of its own
   * @param share of the pool, or null for receives of its own
   * @param sends how deep its send queue is
   * @param receives how deep its receive queue is, if it has one
   */
  public static QueuePairOptions reliable(
      CompletionQueue completions, @Nullable ReceiveShare share, int sends, int receives) {
    return share == null
        ? QueuePairOptions.reliable(completions, completions, sends, receives)
        : QueuePairOptions.reliable(completions, share.pool.completionQueue(), sends, 0)
            .withSharedReceiveQueue(share.pool.queue());
  }

  /**
   * Brings a queue pair into its error state: all that is posted is flushed, and what it has taken
   * of a pool stands in the completion queue. Also one that is there already, as where the peer has
   * disconnected: what brought it there may be about to flush it, and only a change waits for that.
   *
   * @throws VerbsException if the HCA cannot
   */
  public static void stop(QueuePair pair) {
    try {
      pair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
    } catch (VerbsException e) {
      // Of a device that is gone, all has been flushed.
      if (pair.state() != QueuePairState.ERR) {
        throw e;
      }
    }
  }

  /** Hands the receives of this queue pair to {@code to}; before it can receive any. */
  public void serve(int queuePairNumber, ReceivePool.User to) {
    number = queuePairNumber;
    user = to;
    pool.serve(queuePairNumber, this);
  }

  /** A receive has completed; returns whose. */
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

  /** The HCA has refused a receive whose frame it gave back. */
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

  /** {@inheritDoc} That of all connections. */
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
   * <p>Does nothing: the receives that are posted are for all connections.
   */
  @Override
  public void halt() {}

  /**
   * {@inheritDoc}
   *
   * <p>Receives of a shared queue are not flushed. What the HCA had taken by now is in the
   * completion queue: nothing is left if another poll finds none.
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
