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
  private @Nullable SendFrame[] inFlight = new @Nullable SendFrame[FIRST];

  /**
   * Numbers of frames; 64 bits, which no connection uses up, as a send may end long after its last
   * frame.
   */
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
   * @throws MemoryLimitException at the limit on registered memory
   */
  SendFrame open() {
    SendFrame frame = buffers.take();
    frame.open(this, true);
    if (opened - arrived == inFlight.length) {
      grow();
    }
    frame.number = opened++;
    inFlight[at(frame.number)] = frame;
    return frame;
  }

  private int at(long number) {
    return (int) number & inFlight.length - 1;
  }

  private void grow() {
    @Nullable SendFrame[] fewer = inFlight;
    inFlight = new @Nullable SendFrame[2 * fewer.length];
    for (long number = arrived; number != opened; number++) {
      inFlight[at(number)] = fewer[(int) number & fewer.length - 1];
    }
  }

  /**
   * Opens a frame that returns credits and has no data.
   *
   * @throws MemoryLimitException at the limit on registered memory
   */
  SendFrame openControl() {
    SendFrame frame = buffers.take();
    frame.open(this, false);
    return frame;
  }

  /** Takes back the frame for data that was opened last and is not needed. */
  void cancel(SendFrame frame) {
    opened--;
    inFlight[at(frame.number)] = null;
    buffers.giveBack(frame);
  }

  /** Ends a frame that the peer's HCA has: releases its payload and calls its waiters. */
  void arrived(SendFrame frame) {
    frame.releasePayload();
    FrameWaiter waiter = frame.takeWaiters();
    if (frame.data) {
      arrived = frame.number + 1;
      inFlight[at(frame.number)] = null;
    }
    closeArrived |= frame.closes;
    buffers.giveBack(frame);
    while (waiter != null) {
      FrameWaiter next = waiter.nextWaiter();
      waiter.nextWaiter(null);
      notifyArrived(waiter);
      waiter = next;
    }
    turn.ask();
  }

  private void notifyArrived(FrameWaiter waiter) {
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
      inFlight[at(frame.number)] = null;
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
   * Returns whether the frame of this number has reached the peer; if not, calls {@code waiter}
   * when it has.
   */
  boolean hasArrived(long number, FrameWaiter waiter) {
    if (number < arrived) {
      return true;
    }
    SendFrame frame = inFlight[at(number)];
    if (frame != null) {
      // Else it was lost, and the connection is about to fail all its sends.
      frame.notifyWhenArrived(waiter);
    }
    return false;
  }

  /** Returns whether a frame with a CLOSE has reached the peer. */
  boolean isCloseArrived() {
    return closeArrived;
  }
}
