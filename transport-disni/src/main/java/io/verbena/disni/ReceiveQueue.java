// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.RdmaCore;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePairCapabilities;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.ScatterGatherList;
import org.jspecify.annotations.Nullable;

/**
 * The receive queue of a queue pair without a shared receive queue. The caller holds the lock for
 * posting receives, and checks the state.
 */
final class ReceiveQueue {
  private final RdmaCore core;
  private final @Nullable Extension extension;
  private final long pair;
  private final int maxScatterGather;
  private final ReceiveBatch batch;
  private final Chain chain;
  private final Slots slots;

  ReceiveQueue(RdmaCore core, long pair, QueuePairCapabilities granted, DeviceQuirks quirks) {
    this.core = core;
    extension = core instanceof Extension jni ? jni : null;
    this.pair = pair;
    maxScatterGather = granted.maxReceiveScatterGather();
    batch = new ReceiveBatch(Math.max(1, maxScatterGather), quirks.tripsOverEmptyBuffers());
    chain = batch.chain();
    slots = new Slots(granted.maxReceive());
  }

  Slots slots() {
    return slots;
  }

  /**
   * Posts a receive and those linked to it, up to the first that is refused.
   *
   * @param tag the tag of the queue pair, for {@link Cookie cookies}
   * @throws PostException with the id of the receive that was refused
   */
  void post(ReceiveWorkRequest first, int tag) {
    Extension jni = extension;
    if (jni != null
        && first.next() == null
        && first.buffers().size() == 1
        && maxScatterGather > 0) {
      postPlain(jni, first, tag);
    } else {
      postLinked(first, tag);
    }
  }

  private void postPlain(Extension jni, ReceiveWorkRequest request, int tag) {
    if (slots.isFull()) {
      throw full(request.id());
    }
    ScatterGatherList buffer = request.buffers();
    int refused =
        jni.postOneReceive(
            pair,
            Cookie.receive(tag, slots.take(request.id())),
            buffer.address(0),
            buffer.length(0),
            buffer.lkey(0));
    if (refused < 0) {
      throw PostErrors.byDriver(slots.giveBack(1), refused);
    }
  }

  private void postLinked(ReceiveWorkRequest first, int tag) {
    ReceiveWorkRequest next = first;
    while (next != null) {
      chain.clear();
      PostException refusal = null;
      while (next != null && !chain.isFull()) {
        refusal = refuse(next);
        if (refusal != null) {
          break;
        }
        batch.add(next, Cookie.receive(tag, slots.take(next.id())));
        next = next.next();
      }
      if (chain.count() > 0) {
        post();
      }
      if (refusal != null) {
        throw refusal;
      }
    }
  }

  /**
   * Completes a receive and those linked to it with WR_FLUSH_ERR, without posting them.
   *
   * @param queuePair the number of the queue pair
   * @throws PostException with the id of the receive that is refused
   */
  void flush(ReceiveWorkRequest first, int tag, int queuePair, DisniCompletionQueue completions) {
    for (ReceiveWorkRequest next = first; next != null; next = next.next()) {
      PostException refusal = refuse(next);
      if (refusal != null) {
        throw refusal;
      }
      completions.flush(Cookie.receive(tag, slots.take(next.id())), queuePair);
    }
  }

  private @Nullable PostException refuse(ReceiveWorkRequest request) {
    PostException refusal =
        PostErrors.ofEntries(request.id(), request.buffers().size(), maxScatterGather);
    return refusal == null && slots.isFull() ? full(request.id()) : refusal;
  }

  private PostException full(long id) {
    return PostErrors.full(id, "receives", slots.capacity());
  }

  private void post() {
    int refused = core.postReceive(pair, chain.address(), chain.badAddress());
    if (refused < 0) {
      throw PostErrors.byDriver(slots.giveBack(chain.notPosted()), refused);
    }
  }
}
