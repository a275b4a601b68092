// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.send;

import io.verbena.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a frame to reach the peer. It is a node of an intrusive list, in one list at a time.
 * Called on the loop.
 */
public interface FrameWaiter {

  /** Called when the peer's HCA has the frame. */
  void frameArrived();

  /** Called when the frame is lost: the peer's HCA will never have it. */
  void frameLost(RdmaException error);

  /** Returns the next in the list. */
  @Nullable FrameWaiter nextWaiter();

  /** Sets the next in the list. */
  void nextWaiter(@Nullable FrameWaiter next);
}
