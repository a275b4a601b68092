// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.verbena.RdmaException;
import io.verbena.reactor.queue.RequestOwner;

/** Behind the last request of a stopped queue; never carried out. */
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
    // The queue was stopped too late for it, which makes no difference.
  }

  @Override
  public void failed(RdmaException error) {
    // As it was to be.
  }
}
