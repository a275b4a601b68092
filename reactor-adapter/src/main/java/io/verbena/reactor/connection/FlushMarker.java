// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.verbena.RdmaException;
import io.verbena.reactor.queue.RequestOwner;

/** A request behind the last one of a stopped queue: it is flushed, and never executed. */
final class FlushMarker implements RequestOwner {
  @Override
  public String operation() {
    return "close";
  }

  @Override
  public void overdue(RdmaException error) {
    // The flush has its own deadline.
  }

  @Override
  public void succeeded() {
    // The HCA executed it before the queue was stopped, which makes no difference.
  }

  @Override
  public void failed(RdmaException error) {
    // As expected: the flush has reached it.
  }
}
