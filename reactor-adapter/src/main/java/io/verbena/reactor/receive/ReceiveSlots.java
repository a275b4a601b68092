// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.receive;

import io.netty.buffer.ByteBuf;
import io.verbena.core.loop.WorkRequestId;
import io.verbena.verbs.QueuePair;
import org.jspecify.annotations.Nullable;

/** The frames that wait in a receive queue, oldest first. */
public final class ReceiveSlots {
  private final QueuePair pair;
  private final ReceiveBuffers buffers;
  private final long prefix;
  private final int mask;
  private final @Nullable ByteBuf[] frames;
  private int head;
  private int tail;

  /**
   * The slots of {@code pair}'s receive queue, whose work request ids begin with {@code prefix}.
   */
  public ReceiveSlots(QueuePair pair, ReceiveBuffers buffers, long prefix, int capacity) {
    this.pair = pair;
    this.buffers = buffers;
    this.prefix = prefix;
    int size = Integer.highestOneBit(Math.max(1, capacity - 1)) << 1;
    mask = size - 1;
    frames = new @Nullable ByteBuf[size];
  }

  /** Whether no receive is posted. */
  public boolean isEmpty() {
    return head == tail;
  }

  /** How many receives have completed, modulo 2<sup>32</sup>. */
  public int completed() {
    return tail;
  }

  /**
   * Posts so many receives.
   *
   * @throws io.verbena.MemoryLimitException at the ceiling; what was posted stays
   */
  public void fill(int count) {
    for (int i = 0; i < count; i++) {
      post(buffers.newFrame());
    }
  }

  /** Posts a frame, which from now on belongs to the queue; also if this fails. */
  void post(ByteBuf frame) {
    int sequence = head;
    frames[sequence & mask] = frame;
    head = sequence + 1;
    pair.postReceive(buffers.request(frame, WorkRequestId.receive(prefix, sequence)));
  }

  /** Takes the frame of a receive that completed; it belongs to the caller. */
  public ByteBuf take(int sequence) {
    if (sequence != tail || sequence == head) {
      throw new IllegalStateException(
          "completion of receive " + sequence + " (expected: " + tail + ", before " + head + ")");
    }
    ByteBuf frame = frames[sequence & mask];
    if (frame == null) {
      throw new IllegalStateException("no frame of receive " + sequence);
    }
    frames[sequence & mask] = null;
    tail = sequence + 1;
    return frame;
  }

  /** Releases all that were never completed, once the queue pair is gone. */
  public void release() {
    while (tail != head) {
      take(tail).release();
    }
  }
}
