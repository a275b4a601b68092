// SPDX-License-Identifier: Apache-2.0
package io.verbena.meters;

/**
 * An adapter's queue for one connection, in front of its transport. Any thread may call the
 * methods.
 */
public interface Backlog {

  /** Returns the number of bytes in the queue. */
  long bytes();

  /** Returns the most bytes that the queue may hold. */
  long limit();
}
