// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.send;

import io.verbena.MemoryLimitException;
import io.verbena.RdmaException;
import io.verbena.core.loop.DutyCycleEnd;
import io.verbena.reactor.guard.FailureGuard;
import org.jspecify.annotations.Nullable;

/**
 * The frames of one connection from when they are opened until the peer's HCA has them, and who
 * waits for that. Only on the loop.
 */
final class FramesInFlight {
  private final SendFrames buffers;
  private final DutyCycleEnd turn;
  private final FailureGuard guard;

  /** Frames with data, each at its number modulo the length. */
  private final @Nullable SendFrame[] flying;

  private int opened;
  private int arrived;
  private boolean closeArrived;

  /**
   * @param most how many may be in flight at once, a power of two
   */
  FramesInFlight(SendFrames buffers, DutyCycleEnd turn, FailureGuard guard, int most) {
    this.buffers = buffers;
    this.turn = turn;
    this.guard = guard;
    flying = new @Nullable SendFrame[most];
  }

  /**
   * Opens the next frame for data.
   *
   * @throws MemoryLimitException at the ceiling
   */
  SendFrame open() {
    SendFrame frame = buffers.take();
    frame.open(this, true);
    frame.number = opened++;
    flying[frame.number & flying.length - 1] = frame;
    return frame;
  }

  /**
   * Opens a frame that returns credits and has no data.
   *
   * @throws MemoryLimitException at the ceiling
   */
  SendFrame openControl() {
    SendFrame frame = buffers.take();
    frame.open(this, false);
    return frame;
  }

  /** Takes back the frame for data that was opened last, and that is not needed. */
  void cancel(SendFrame frame) {
    opened--;
    flying[frame.number & flying.length - 1] = null;
    buffers.giveBack(frame);
  }

  /** The peer's HCA has the frame. */
  void arrived(SendFrame frame) {
    frame.releasePayload();
    FrameWaiter waiter = frame.takeWaiters();
    if (frame.data) {
      arrived = frame.number + 1;
      flying[frame.number & flying.length - 1] = null;
    }
    closeArrived |= frame.closes;
    buffers.giveBack(frame);
    while (waiter != null) {
      FrameWaiter next = waiter.nextWaiter();
      waiter.nextWaiter(null);
      tellArrived(waiter);
      waiter = next;
    }
    turn.ask();
  }

  private void tellArrived(FrameWaiter waiter) {
    try {
      waiter.frameArrived();
    } catch (Throwable thrown) {
      guard.broke(thrown);
    }
  }

  /** The frame never reaches the peer, and this end's HCA has let go of it. */
  void lost(SendFrame frame, RdmaException error) {
    frame.releasePayload();
    FrameWaiter waiter = frame.takeWaiters();
    if (frame.data) {
      flying[frame.number & flying.length - 1] = null;
    }
    buffers.giveBack(frame);
    while (waiter != null) {
      FrameWaiter next = waiter.nextWaiter();
      waiter.nextWaiter(null);
      waiter.frameLost(error);
      waiter = next;
    }
  }

  /** Whether the frame of this number is at the peer; if not, tells {@code waiter} when it is. */
  boolean hasArrived(int number, FrameWaiter waiter) {
    if (arrived - number > 0) {
      return true;
    }
    SendFrame frame = flying[number & flying.length - 1];
    if (frame != null) {
      // Else it was lost, and the connection is about to fail all its sends.
      frame.tell(waiter);
    }
    return false;
  }

  /** Whether a frame with a CLOSE has arrived. */
  boolean isCloseArrived() {
    return closeArrived;
  }
}
