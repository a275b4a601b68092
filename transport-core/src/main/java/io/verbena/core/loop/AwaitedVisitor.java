// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

/** Visits the operations that wait for what a loop has taken up. */
@FunctionalInterface
public interface AwaitedVisitor {

  /**
   * Visits one operation, the same one perhaps more than once.
   *
   * @param ticks for how long it waits by the loop's clock, which stands while the loop is held up
   */
  void visit(Awaited awaited, int ticks);
}
