// SPDX-License-Identifier: Apache-2.0
package io.verbena.meters;

/** A connection's queue in front of its transport. Any thread may read it. */
public interface Backlog {

  /** Returns the bytes that it holds. */
  long bytes();

  /** Returns the most bytes that it may hold. */
  long limit();
}
