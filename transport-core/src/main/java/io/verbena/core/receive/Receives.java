// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

import io.netty.buffer.ByteBuf;

/**
 * The receives that a connection's peer may send into: a share of a pool, or a receive queue of its
 * own where the device has no shared ones. Only on the loop.
 */
public interface Receives {

  /**
   * Gives it so many more receives, as far as there are.
   *
   * @return how many it got
   */
  int grow(int wanted);

  /** Takes so many receives back, for which the peer has no credits any more. */
  void shrink(int count);

  /** Returns whether others wait for receives while it has more than its part. */
  boolean hasMoreThanItsPart();

  /**
   * Takes a frame that was read, and posts it if it is needed: by {@link #post} where posts are
   * linked, else at once.
   */
  void giveBack(ByteBuf frame);

  /**
   * Posts the receives that wait to be posted: at the end of the duty cycle, and before what gives
   * the peer credits for them. Throws nothing.
   */
  void post();

  /** Returns how many receives have completed, modulo 2<sup>32</sup>. */
  int completed();

  /** Posts nothing any more for this connection, also nothing that waits. */
  void halt();

  /**
   * Looks whether completions may still come, once the queue pair is in its error state and all
   * sends are flushed.
   */
  Flush flushed();

  /** Gives everything back, once the queue pair is gone. */
  void release();

  /** The progress of flushing receives. */
  enum Flush {
    /** No receive is left. */
    DONE,
    /** Some are left, whose completions come. */
    UNDER_WAY,
    /** No completion shows it: it is known when another duty cycle has polled. */
    LOOK_AGAIN
  }
}
