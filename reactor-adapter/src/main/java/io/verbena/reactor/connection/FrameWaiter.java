package io.verbena.reactor.connection;

import io.verbena.RdmaException;
import org.jspecify.annotations.Nullable;

/** Who waits for a frame to have reached the peer; in an intrusive list, in one at a time. */
interface FrameWaiter {

  /** The peer's HCA has the frame. */
  void frameArrived();

  /** It never will. */
  void frameLost(RdmaException error);

  @Nullable FrameWaiter nextWaiter();

  void nextWaiter(@Nullable FrameWaiter next);
}
