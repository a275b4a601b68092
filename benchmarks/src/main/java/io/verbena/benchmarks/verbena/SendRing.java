// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.verbena.benchmarks.work.ByteBufferView;
import io.verbena.benchmarks.work.DirectMemory;
import io.verbena.benchmarks.work.MessageSource;
import io.verbena.benchmarks.work.Spin;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeoutException;

/**
 * Outgoing messages, each in a slot of registered memory that is reused when its SEND has
 * completed. One SEND of a group is signaled; its completion covers the group. For one thread.
 */
final class SendRing {
  private static final int GROUPS = 4;

  private final int size;
  private final int group;
  private final QueuePair queuePair;
  private final CompletionQueue completed;
  private final MemoryRegion region;
  private final ByteBufferView[] views;
  private final SendWorkRequest[] chain;
  private int chained;
  private final WorkCompletion[] completions = WorkCompletion.array(GROUPS);
  private int slot;
  private int groupsFree = GROUPS;

  /** Creates a ring that posts each SEND by itself. */
  SendRing(VerbsEnd end, QueuePair queuePair, int size, int group) {
    this(end, queuePair, size, group, 1);
  }

  /**
   * @param group the number of SENDs of which one is signaled
   * @param together the number of SENDs per post, like perftest's post list
   */
  SendRing(VerbsEnd end, QueuePair queuePair, int size, int group, int together) {
    this.chain = new SendWorkRequest[together];
    for (int i = 0; i < together; i++) {
      chain[i] = new SendWorkRequest();
    }
    this.size = size;
    this.group = group;
    this.queuePair = queuePair;
    this.completed = end.sent;
    ByteBuffer memory = DirectMemory.allocate(size * group * GROUPS);
    this.region = end.register(memory);
    this.views = new ByteBufferView[group * GROUPS];
    MessageSource source = new MessageSource(size);
    for (int i = 0; i < views.length; i++) {
      views[i] = new ByteBufferView(memory, i * size);
      source.prepare(views[i]);
    }
  }

  /** Returns the next free slot, which {@link #post} sends. Waits until it is free. */
  ByteBufferView next(Spin spin) throws TimeoutException {
    if (slot % group == 0) {
      while (groupsFree == 0) {
        groupsFree += poll();
        spin.spin();
      }
      groupsFree--;
    }
    return views[slot];
  }

  /** Sends the slot that {@link #next} returned, at once or together with the next ones. */
  void post() {
    SendWorkRequest request = chain[chained++];
    request.send().next(null).buffer(region.address() + (long) slot * size, size, region.lkey());
    if (chained > 1) {
      chain[chained - 2].next(request);
    }
    boolean last = (slot + 1) % group == 0;
    if (last) {
      request.signaled();
    }
    slot = slot + 1 == views.length ? 0 : slot + 1;
    if (last || chained == chain.length) {
      flush();
    }
  }

  /** Posts the SENDs that were not posted yet. */
  void flush() {
    if (chained > 0) {
      chained = 0;
      queuePair.postSend(chain[0]);
    }
  }

  private int poll() {
    int count = completed.poll(completions);
    for (int i = 0; i < count; i++) {
      Completions.check(completions[i]);
    }
    return count;
  }
}
