// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

/** Visits the operations in progress at a loop's members. */
@FunctionalInterface
public interface AwaitedVisitor {

  /**
   * Visits an operation, perhaps more than once.
   *
   * @param ticks how long the operation waits, in ticks of the loop's clock, which stands still
   *     while the loop is held up
   */
  void visit(Awaited awaited, int ticks);
}
