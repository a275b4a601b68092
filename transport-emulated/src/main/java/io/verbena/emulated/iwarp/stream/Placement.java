// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

/**
 * Registered memory as a stream uses it. Called within the calls of an engine, on the same thread.
 * No method is called with a length of 0.
 */
public interface Placement {

  /** The uses of memory; each needs a right. */
  enum Use {
    /** The payload of a request. */
    SEND,
    /** The answer to a READ or an atomic of this end. */
    SINK,
    /** The payload of a message, for a receive. */
    RECEIVE,
    /** A READ of the peer. */
    READ,
    /** A WRITE of the peer. */
    WRITE,
    /** An atomic of the peer, which {@link io.verbena.emulated.engine.EngineHost} executes. */
    ATOMIC
  }

  /** Returns whether the queue pair allows its peer this use at all. */
  boolean allows(Use use);

  /** Returns whether a key opens memory now for a use, regardless of {@link #allows}. */
  boolean permits(Use use, int key, long address, int length);

  /**
   * Returns the reason why a key does not open memory for a use; called after {@link #permits}
   * denied it.
   *
   * @param length up to 2<sup>32</sup>
   */
  AccessDenial denial(Use use, int key, long address, long length);

  /**
   * Shows the memory that a key opens now for a use.
   *
   * @param view shows the memory until it shows other memory; must not be used after the key is
   *     dead
   * @return false if the key does not open the memory
   */
  boolean show(Use use, int key, long address, int length, MemoryView view);
}
