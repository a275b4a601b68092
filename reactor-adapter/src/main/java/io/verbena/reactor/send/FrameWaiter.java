// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.send;

import io.verbena.RdmaException;
import org.jspecify.annotations.Nullable;

/** Waits for a frame to reach the peer; stands in an intrusive list, in one at a time. */
public interface FrameWaiter {

  /** The peer's HCA has the frame. */
  void frameArrived();

  /** It never will. */
  void frameLost(RdmaException error);

  /** The next in the list. */
  @Nullable FrameWaiter nextWaiter();

  /** Sets the next in the list. */
  void nextWaiter(@Nullable FrameWaiter next);
}
