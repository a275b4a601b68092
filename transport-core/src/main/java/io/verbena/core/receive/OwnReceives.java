// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

import io.netty.buffer.ByteBuf;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaException;
import io.verbena.core.loop.WorkRequestId;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * The frames that wait in a receive queue of a connection's own, oldest first: for devices without
 * shared receive queues. There are as many as the peer has credits. Only on the loop.
 */
public final class OwnReceives implements Receives {
  private static final int FIRST_FRAMES = 4;

  private final QueuePair pair;
  private final ReceiveFrames source;
  private final long prefix;
  private final int capacity;
  private final ReceiveWorkRequest request = new ReceiveWorkRequest();

  /** By sequence modulo the length, which grows with the receives that are posted. */
  private @Nullable ByteBuf[] frames = new @Nullable ByteBuf[FIRST_FRAMES];

  private int head;
  private int tail;

  /** Receives beyond the peer's credits: each is not posted again when it is taken. */
  private int surplus;

  private boolean halted;

  /**
   * The slots of {@code pair}'s receive queue, whose work request ids begin with {@code prefix}.
   */
  public OwnReceives(QueuePair pair, ReceiveFrames source, long prefix, int capacity) {
    this.pair = pair;
    this.source = source;
    this.prefix = prefix;
    this.capacity = capacity;
  }

  @Override
  public int completed() {
    return tail;
  }

  @Override
  public Flush flushed() {
    return head == tail ? Flush.DONE : Flush.UNDER_WAY;
  }

  /**
   * Posts so many receives.
   *
   * @throws MemoryLimitException at the ceiling; what was posted stays
   */
  public void fill(int count) {
    for (int i = 0; i < count; i++) {
      post(source.allocate());
    }
  }

  @Override
  public int grow(int wanted) {
    int before = head - surplus;
    surplus -= Math.min(surplus, wanted);
    try {
      while (!halted && head - surplus - before < wanted && head - tail < capacity) {
        post(source.allocate());
      }
    } catch (RdmaException e) {
      // It has to do with what there is.
    }
    return head - surplus - before;
  }

  @Override
  public void shrink(int count) {
    surplus += count;
  }

  /** Nobody else takes from this queue. */
  @Override
  public boolean hasMoreThanItsPart() {
    return false;
  }

  @Override
  public void giveBack(ByteBuf frame) {
    if (halted) {
      frame.release();
    } else if (surplus > 0) {
      surplus--;
      frame.release();
    } else {
      post(frame);
    }
  }

  @Override
  public void halt() {
    halted = true;
  }

  /** Posts a frame, which from now on belongs to the queue; also if this fails. */
  private void post(ByteBuf frame) {
    if (head - tail == frames.length) {
      grow();
    }
    int sequence = head;
    frames[sequence & frames.length - 1] = frame;
    head = sequence + 1;
    pair.postReceive(source.describe(frame, WorkRequestId.receive(prefix, sequence), request));
  }

  private void grow() {
    @Nullable ByteBuf[] more = new @Nullable ByteBuf[2 * frames.length];
    for (int sequence = tail; sequence != head; sequence++) {
      more[sequence & more.length - 1] = frames[sequence & frames.length - 1];
    }
    frames = more;
  }

  /** Takes the frame of a receive that completed; it belongs to the caller. */
  public ByteBuf take(int sequence) {
    if (sequence != tail || sequence == head) {
      throw new IllegalStateException(
          "completion of receive " + sequence + " (expected: " + tail + ", before " + head + ")");
    }
    int at = sequence & frames.length - 1;
    ByteBuf frame = frames[at];
    if (frame == null) {
      throw new IllegalStateException("no frame of receive " + sequence);
    }
    frames[at] = null;
    tail = sequence + 1;
    return frame;
  }

  /** Releases all that were never completed, once the queue pair is gone. */
  @Override
  public void release() {
    while (tail != head) {
      take(tail).release();
    }
  }
}
