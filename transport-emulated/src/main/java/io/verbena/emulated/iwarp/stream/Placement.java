// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

/**
 * Registered memory as a stream uses it. Called within the calls of an engine, by the same caller.
 * A length of 0 is never asked for.
 */
public interface Placement {

  /** What memory is used for; each asks for a right. */
  enum Use {
    /** A request's bytes. */
    SEND,
    /** The answer to a READ or an atomic of this end. */
    SINK,
    /** A message. */
    RECEIVE,
    /** A READ of the peer. */
    READ,
    /** A WRITE of the peer. */
    WRITE,
    /** An atomic of the peer; the {@link io.verbena.emulated.engine.Host} does it. */
    ATOMIC
  }

  /** Whether the queue pair lets its peer do this at all. */
  boolean allows(Use use);

  /** Whether a key opens memory now for a use; without regard of {@link #allows}. */
  boolean permits(Use use, int key, long address, int length);

  /**
   * Why a key does not open memory for a use; of one that {@link #permits} has denied.
   *
   * @param length up to 2<sup>32</sup>
   */
  Denial denial(Use use, int key, long address, long length);

  /**
   * Shows the memory that a key opens now for a use.
   *
   * @param view shows it until it shows other memory; of no use once the key is dead
   * @return false if the key does not open it
   */
  boolean show(Use use, int key, long address, int length, MemoryView view);
}
