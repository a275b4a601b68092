// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

import io.netty.buffer.ByteBuf;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaException;
import io.verbena.core.loop.DutyCycleEnd;
import io.verbena.core.loop.WorkRequestId;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.VerbsException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The frames in a connection's own receive queue, oldest first, for devices without shared receive
 * queues. There are as many as the peer has credits. If posts are costly, the newest frames wait
 * for the end of the duty cycle, or for the sends that give the peer credits for them. Only on the
 * loop.
 */
public final class OwnReceives implements Receives {
  private static final int FIRST_FRAMES = 4;

  private final QueuePair pair;
  private final ReceiveFrames source;
  private final LinkedReceives list;
  private final long prefix;
  private final int capacity;
  private final Consumer<? super Throwable> onRefusal;

  /** Posts the waiting receives; null if each receive is posted at once. */
  private final @Nullable DutyCycleEnd end;

  /** The frames, by sequence modulo the length, which grows with the receives. */
  private @Nullable ByteBuf[] frames = new @Nullable ByteBuf[FIRST_FRAMES];

  /** The next sequence. */
  private int head;

  /** The oldest sequence that waits to be posted. */
  private int posted;

  /** The oldest sequence that has not completed. */
  private int tail;

  /**
   * The receives beyond the peer's credits; so many are not posted again when they are given back.
   */
  private int surplus;

  private boolean halted;

  OwnReceives(
      ReceiveQueues queues,
      QueuePair pair,
      long prefix,
      int capacity,
      Consumer<? super Throwable> onRefusal) {
    this.pair = pair;
    this.prefix = prefix;
    this.capacity = capacity;
    this.onRefusal = onRefusal;
    source = queues.source();
    list = queues.list();
    end = queues.end(this::post);
  }

  @Override
  public int completed() {
    return tail;
  }

  @Override
  public Flush flushed() {
    return posted == tail ? Flush.DONE : Flush.UNDER_WAY;
  }

  /**
   * Posts this many receives, at once.
   *
   * @throws MemoryLimitException if the limit on registered memory is reached
   * @throws VerbsException if the HCA refuses one; those before it are posted
   */
  public void fill(int count) {
    for (int i = 0; i < count; i++) {
      append(source.allocate());
    }
    postWaiting();
  }

  /**
   * {@inheritDoc}
   *
   * <p>Adds none once half of the registered memory is in use: many connections with receives of
   * their own would leave nothing for messages.
   */
  @Override
  public int grow(int wanted) {
    int before = head - surplus;
    surplus -= Math.min(surplus, wanted);
    try {
      while (!halted
          && !source.areScarce()
          && head - surplus - before < wanted
          && head - tail < capacity) {
        add(source.allocate());
      }
    } catch (RdmaException e) {
      // The connection continues with the receives that it has.
    }
    return head - surplus - before;
  }

  @Override
  public void shrink(int count) {
    surplus += count;
  }

  /**
   * {@inheritDoc}
   *
   * <p>No other connection takes from this queue.
   */
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
      add(frame);
    }
  }

  @Override
  public void halt() {
    halted = true;
  }

  /** Adds a receive. Its frame belongs to the queue from now on, also if this throws. */
  private void add(ByteBuf frame) {
    append(frame);
    if (end == null) {
      postWaiting();
    } else {
      end.ask();
    }
  }

  private void append(ByteBuf frame) {
    if (head - tail == frames.length) {
      lengthen();
    }
    frames[head & frames.length - 1] = frame;
    head++;
  }

  private void lengthen() {
    @Nullable ByteBuf[] more = new @Nullable ByteBuf[2 * frames.length];
    for (int sequence = tail; sequence != head; sequence++) {
      more[sequence & more.length - 1] = frames[sequence & frames.length - 1];
    }
    frames = more;
  }

  @Override
  public void post() {
    if (halted) {
      return;
    }
    try {
      postWaiting();
    } catch (RuntimeException | Error e) {
      onRefusal.accept(e);
    }
  }

  /** Posts the waiting receives, in lists; those that the HCA refuses are dropped. */
  private void postWaiting() {
    while (posted != head) {
      int count = 0;
      try {
        count = describeWaiting();
        list.post(pair);
        posted += count;
      } catch (RuntimeException | Error e) {
        posted += list.firstRefused(count, e);
        list.clear();
        dropWaiting();
        throw e;
      }
    }
  }

  /** Fills the list with waiting receives, and returns their number. */
  private int describeWaiting() {
    for (int sequence = posted; sequence != head && !list.isFull(); sequence++) {
      long id = WorkRequestId.receive(prefix, sequence);
      source.describe(frame(sequence), id, list.next());
      list.add(null);
    }
    return list.count();
  }

  private ByteBuf frame(int sequence) {
    ByteBuf frame = frames[sequence & frames.length - 1];
    if (frame == null) {
      throw new IllegalStateException("no frame of receive " + sequence);
    }
    return frame;
  }

  private void dropWaiting() {
    while (head != posted) {
      head--;
      ByteBuf frame = frame(head);
      frames[head & frames.length - 1] = null;
      frame.release();
    }
  }

  /** Removes and returns the frame of a completed receive; it belongs to the caller. */
  public ByteBuf take(int sequence) {
    if (sequence != tail || sequence == posted) {
      throw new IllegalStateException(
          "completion of receive " + sequence + " (expected: " + tail + ", before " + posted + ")");
    }
    ByteBuf frame = frame(sequence);
    frames[sequence & frames.length - 1] = null;
    tail = sequence + 1;
    return frame;
  }

  /** Releases the frames of all incomplete receives, once the queue pair is gone. Idempotent. */
  @Override
  public void release() {
    halt();
    if (end != null) {
      end.close();
    }
    dropWaiting();
    while (tail != posted) {
      take(tail).release();
    }
  }
}
