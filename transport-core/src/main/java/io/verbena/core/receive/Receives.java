// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

import io.netty.buffer.ByteBuf;

/**
 * The receives that a connection's peer may send into: a share of a pool, or the connection's own
 * receive queue if the device has no shared ones. Only on the loop.
 */
public interface Receives {

  /**
   * Adds receives, as far as there are any.
   *
   * @param wanted the number of receives to add
   * @return the number of receives added
   */
  int grow(int wanted);

  /** Gives up {@code count} receives, for which the peer no longer has credits. */
  void shrink(int count);

  /** Returns whether other connections lack receives while this one has more than an even part. */
  boolean hasMoreThanItsPart();

  /**
   * Takes back a frame that was read, and posts it if it is needed: by {@link #post} if posts are
   * linked, else at once.
   */
  void giveBack(ByteBuf frame);

  /**
   * Posts the waiting receives: at the end of the duty cycle, and before a send that gives the peer
   * credits for them. Throws nothing.
   */
  void post();

  /** Returns the number of completed receives, modulo 2<sup>32</sup>. */
  int completed();

  /** Stops posting for this connection; waiting receives are not posted either. */
  void halt();

  /**
   * Returns whether completions may still come, once the queue pair is in its error state and all
   * sends are flushed.
   */
  Flush flushed();

  /** Gives all receives back, once the queue pair is gone. */
  void release();

  /** How far receives are flushed. */
  enum Flush {
    /** No receive is left. */
    DONE,
    /** Some receives are left; their completions will come. */
    UNDER_WAY,
    /** No completion shows the end: call again after another duty cycle has polled. */
    LOOK_AGAIN
  }
}
