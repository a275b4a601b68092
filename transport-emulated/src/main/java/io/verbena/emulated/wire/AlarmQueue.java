// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.emulated.engine.Timeline;
import java.util.Arrays;

/**
 * The alarms that are set, ordered by deadline, then by the order in which they were set. A binary
 * heap whose entries know their index, so that setting and cancelling do not allocate. Not
 * thread-safe.
 */
final class AlarmQueue {
  private static final int LEAST_CAPACITY = 64;

  private Entry[] heap = new Entry[LEAST_CAPACITY];
  private int size;
  private long sequence;

  final class Entry implements Timeline.Alarm {
    private static final int UNSET = -1;

    private final Runnable action;
    private long deadline;
    private long order;
    private int place = UNSET;

    Entry(Runnable action) {
      this.action = action;
    }

    @Override
    public void set(long newDeadline) {
      if (place != UNSET) {
        remove(this);
      }
      deadline = newDeadline;
      order = sequence++;
      add(this);
    }

    @Override
    public void cancel() {
      if (place != UNSET) {
        remove(this);
      }
    }

    private boolean isBefore(Entry other) {
      return deadline != other.deadline ? deadline < other.deadline : order < other.order;
    }
  }

  Entry create(Runnable action) {
    return new Entry(action);
  }

  /** Returns the number of alarms that are set. */
  int size() {
    return size;
  }

  /** Returns the earliest deadline; {@link Long#MAX_VALUE} if no alarm is set. */
  long nextDeadline() {
    return size == 0 ? Long.MAX_VALUE : heap[0].deadline;
  }

  /**
   * Runs the first alarm if its deadline is not after {@code now}; returns whether an alarm ran.
   */
  boolean runOne(long now) {
    if (size == 0 || heap[0].deadline > now) {
      return false;
    }
    Entry first = heap[0];
    remove(first);
    first.action.run();
    return true;
  }

  private void add(Entry entry) {
    if (size == heap.length) {
      heap = Arrays.copyOf(heap, 2 * size);
    }
    moveUp(size++, entry);
  }

  private void remove(Entry entry) {
    int hole = entry.place;
    entry.place = Entry.UNSET;
    Entry last = heap[--size];
    if (last != entry) {
      if (hole > 0 && last.isBefore(heap[(hole - 1) >>> 1])) {
        moveUp(hole, last);
      } else {
        moveDown(hole, last);
      }
    }
  }

  private void moveUp(int from, Entry entry) {
    int at = from;
    while (at > 0) {
      int parent = (at - 1) >>> 1;
      if (!entry.isBefore(heap[parent])) {
        break;
      }
      put(at, heap[parent]);
      at = parent;
    }
    put(at, entry);
  }

  private void moveDown(int from, Entry entry) {
    int at = from;
    while (2 * at + 1 < size) {
      int child = 2 * at + 1;
      if (child + 1 < size && heap[child + 1].isBefore(heap[child])) {
        child++;
      }
      if (!heap[child].isBefore(entry)) {
        break;
      }
      put(at, heap[child]);
      at = child;
    }
    put(at, entry);
  }

  private void put(int at, Entry entry) {
    heap[at] = entry;
    entry.place = at;
  }
}
