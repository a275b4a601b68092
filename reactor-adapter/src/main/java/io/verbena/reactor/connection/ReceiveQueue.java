package io.verbena.reactor.connection;

import io.netty.buffer.ByteBuf;
import io.verbena.core.loop.WorkRequestId;
import io.verbena.verbs.QueuePair;
import org.jspecify.annotations.Nullable;

/** The frames that wait in a receive queue, oldest first. */
final class ReceiveQueue {
  private final QueuePair pair;
  private final Workbench bench;
  private final long prefix;
  private final int mask;
  private final @Nullable ByteBuf[] frames;
  private int head;
  private int tail;

  ReceiveQueue(QueuePair pair, Workbench bench, long prefix, int capacity) {
    this.pair = pair;
    this.bench = bench;
    this.prefix = prefix;
    int size = Integer.highestOneBit(Math.max(1, capacity - 1)) << 1;
    mask = size - 1;
    frames = new @Nullable ByteBuf[size];
  }

  boolean isEmpty() {
    return head == tail;
  }

  /** Posts a frame, which from now on belongs to the queue; also if this fails. */
  void post(ByteBuf frame) {
    int sequence = head;
    frames[sequence & mask] = frame;
    head = sequence + 1;
    pair.postReceive(bench.receive(frame, WorkRequestId.receive(prefix, sequence)));
  }

  /** Takes the frame of a receive that completed; it belongs to the caller. */
  ByteBuf take(int sequence) {
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
  void release() {
    while (tail != head) {
      take(tail).release();
    }
  }
}
