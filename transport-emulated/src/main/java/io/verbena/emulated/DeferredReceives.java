package io.verbena.emulated;

import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;

/**
 * Receives that are filled and whose completions are shown later. If there are too many, the oldest
 * is shown at once.
 */
final class DeferredReceives {
  private static final int CAPACITY = 64;

  /** What one completion is to say. */
  private static final class Entry {
    long id;
    CompletionStatus status = CompletionStatus.SUCCESS;
    CompletionOpcode opcode = CompletionOpcode.RECV;
    int flags;
    int byteLength;
    int immediate;
    long frees;
    boolean solicited;
  }

  private final EmulatedQueuePair pair;
  private final Entry[] entries = new Entry[CAPACITY];
  private final Ownership ownership = new Ownership();

  // From here on: only the owner.
  private long shown;
  private long added;

  DeferredReceives(EmulatedQueuePair pair) {
    this.pair = pair;
    for (int i = 0; i < CAPACITY; i++) {
      entries[i] = new Entry();
    }
  }

  /** Adds the youngest; false if room had to be made and the completion queue is full. */
  boolean add(
      long id,
      CompletionStatus status,
      CompletionOpcode opcode,
      int flags,
      int byteLength,
      int immediate,
      long frees,
      boolean solicited) {
    ownership.acquire();
    try {
      boolean fits = added - shown < CAPACITY || show();
      Entry entry = entries[(int) (added++ % CAPACITY)];
      entry.id = id;
      entry.status = status;
      entry.opcode = opcode;
      entry.flags = flags;
      entry.byteLength = byteLength;
      entry.immediate = immediate;
      entry.frees = frees;
      entry.solicited = solicited;
      return fits;
    } finally {
      ownership.release();
    }
  }

  /** Shows the oldest; false if there is none. */
  boolean showOne() {
    boolean overrun = false;
    boolean found;
    ownership.acquire();
    try {
      found = shown < added;
      if (found) {
        overrun = !show();
      }
    } finally {
      ownership.release();
    }
    overrunIf(overrun);
    return found;
  }

  void showAll() {
    boolean overrun = false;
    ownership.acquire();
    try {
      while (shown < added) {
        overrun |= !show();
      }
    } finally {
      ownership.release();
    }
    overrunIf(overrun);
  }

  /** Drops what was not shown. */
  void clear() {
    ownership.acquire();
    shown = added;
    ownership.release();
  }

  void awaitHandover() {
    ownership.awaitHandover();
  }

  /** For the owner: shows the oldest; false if the completion queue is full. */
  private boolean show() {
    Entry entry = entries[(int) (shown++ % CAPACITY)];
    EmulatedCompletionQueue queue = pair.receiveCompletions();
    long position = queue.claim();
    if (position == CompletionRing.OVERRUN) {
      return false;
    }
    queue.publish(
        position,
        entry.id,
        pair.number(),
        pair.receiveAttachment(),
        entry.status,
        entry.opcode,
        entry.flags,
        entry.byteLength,
        entry.immediate,
        entry.frees,
        entry.solicited);
    return true;
  }

  private void overrunIf(boolean overrun) {
    if (overrun) {
      pair.receiveCompletions().overrun();
    }
  }
}
