// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.verbena.benchmarks.work.ByteBufferView;
import io.verbena.benchmarks.work.DirectMemory;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;

/** Receives posted in advance, each with a slot of registered memory. For one thread. */
final class ReceiveRing {
  private static final int POLL = 32;

  private final int size;
  private final QueuePair queuePair;
  private final CompletionQueue completed;
  private final MemoryRegion region;
  private final ByteBufferView[] views;
  private final ReceiveWorkRequest request = new ReceiveWorkRequest();
  private final ReceiveWorkRequest[] chain = new ReceiveWorkRequest[POLL];
  private final WorkCompletion[] completions = WorkCompletion.array(POLL);

  ReceiveRing(VerbsEnd end, QueuePair queuePair, int size, int slots) {
    this.size = size;
    this.queuePair = queuePair;
    this.completed = end.received;
    ByteBuffer memory = DirectMemory.allocate(size * slots);
    this.region = end.register(memory, Access.LOCAL_WRITE);
    this.views = new ByteBufferView[slots];
    for (int i = 0; i < POLL; i++) {
      chain[i] = new ReceiveWorkRequest();
    }
    for (int i = 0; i < slots; i++) {
      views[i] = new ByteBufferView(memory, i * size);
      post(i);
    }
  }

  /** Polls and returns the number of messages received, at most {@value #POLL}. */
  int poll() {
    int count = completed.poll(completions);
    for (int i = 0; i < count; i++) {
      Completions.check(completions[i]);
    }
    return count;
  }

  /** Returns message {@code index} of the last poll. */
  ByteBufferView message(int index) {
    return views[(int) completions[index].workRequestId()];
  }

  /** Returns the length of message {@code index} of the last poll. */
  int length(int index) {
    return completions[index].byteLength();
  }

  /** Returns the immediate of message {@code index} of the last poll. */
  int immediate(int index) {
    return completions[index].immediate();
  }

  /** Posts the receive of message {@code index} again; its slot may be overwritten at once. */
  void repost(int index) {
    post((int) completions[index].workRequestId());
  }

  /**
   * Posts the receives of the messages of the last poll from {@code first} up to {@code end} again.
   */
  void repost(int first, int end) {
    for (int i = first; i < end; i++) {
      int slot = (int) completions[i].workRequestId();
      chain[i]
          .id(slot)
          .buffer(region.address() + (long) slot * size, size, region.lkey())
          .next(i + 1 < end ? chain[i + 1] : null);
    }
    if (first < end) {
      queuePair.postReceive(chain[first]);
    }
  }

  private void post(int slot) {
    queuePair.postReceive(
        request.id(slot).buffer(region.address() + (long) slot * size, size, region.lkey()));
  }
}
