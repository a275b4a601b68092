// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.send;

import io.verbena.MemoryLimitException;
import io.verbena.RdmaException;
import io.verbena.core.loop.DutyCycleEnd;
import io.verbena.reactor.guard.FailureGuard;
import org.jspecify.annotations.Nullable;

/**
 * The frames of one connection from when they are opened until the peer's HCA has them, and the
 * operations that wait for that. Only on the loop.
 */
final class FramesInFlight {
  private static final int FIRST = 2;

  private final SendFrames buffers;
  private final DutyCycleEnd turn;
  private final FailureGuard guard;

  /** Frames with data, each at its number modulo the length, which grows with them. */
  private @Nullable SendFrame[] flying = new @Nullable SendFrame[FIRST];

  /** Numbers that no connection uses up: a send may end long after its last frame. */
  private long opened;

  private long arrived;
  private boolean closeArrived;

  FramesInFlight(SendFrames buffers, DutyCycleEnd turn, FailureGuard guard) {
    this(buffers, turn, guard, 0);
  }

  /**
   * @param first the number of the first frame with data
   */
  FramesInFlight(SendFrames buffers, DutyCycleEnd turn, FailureGuard guard, long first) {
    this.buffers = buffers;
    this.turn = turn;
    this.guard = guard;
    opened = first;
    arrived = first;
  }

  /**
   * Opens the next frame for data.
   *
   * @throws MemoryLimitException at the ceiling
   */
  SendFrame open() {
    SendFrame frame = buffers.take();
    frame.open(this, true);
    if (opened - arrived == flying.length) {
      grow();
    }
    frame.number = opened++;
    flying[at(frame.number)] = frame;
    return frame;
  }

  private int at(long number) {
    return (int) number & flying.length - 1;
  }

  private void grow() {
    @Nullable SendFrame[] fewer = flying;
    flying = new @Nullable SendFrame[2 * fewer.length];
    for (long number = arrived; number != opened; number++) {
      flying[at(number)] = fewer[(int) number & fewer.length - 1];
    }
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
    flying[at(frame.number)] = null;
    buffers.giveBack(frame);
  }

  /** The peer's HCA has the frame. */
  void arrived(SendFrame frame) {
    frame.releasePayload();
    FrameWaiter waiter = frame.takeWaiters();
    if (frame.data) {
      arrived = frame.number + 1;
      flying[at(frame.number)] = null;
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

  /** Ends a frame that never reaches the peer, and that this end's HCA has released. */
  void lost(SendFrame frame, RdmaException error) {
    frame.releasePayload();
    FrameWaiter waiter = frame.takeWaiters();
    if (frame.data) {
      flying[at(frame.number)] = null;
    }
    buffers.giveBack(frame);
    while (waiter != null) {
      FrameWaiter next = waiter.nextWaiter();
      waiter.nextWaiter(null);
      waiter.frameLost(error);
      waiter = next;
    }
  }

  /**
   * Returns whether the frame of this number is at the peer; if not, calls {@code waiter} when it
   * is.
   */
  boolean hasArrived(long number, FrameWaiter waiter) {
    if (number < arrived) {
      return true;
    }
    SendFrame frame = flying[at(number)];
    if (frame != null) {
      // Else it was lost, and the connection is about to fail all its sends.
      frame.tell(waiter);
    }
    return false;
  }

  /** Returns whether a frame with a CLOSE has arrived. */
  boolean isCloseArrived() {
    return closeArrived;
  }
}
