// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.RdmaCore;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePairCapabilities;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ScatterGatherList;
import io.verbena.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * The send queue of a queue pair. The caller holds the lock for posting sends, and checks the
 * state.
 */
final class SendQueue {
  private final RdmaCore core;
  private final @Nullable Extension extension;
  private final long pair;
  private final SendRules rules;
  private final SendBatch batch;
  private final Chain chain;
  private final Slots slots;
  private final boolean signalsAll;
  private final DeviceQuirks quirks;
  private final Posters posters;
  private final Object lock;

  /**
   * Whether requests of this queue have held pointers to other objects, so that it is one of the
   * {@link #posters}.
   */
  private boolean leadsToObjects;

  /**
   * @param signalsAll whether all requests are signaled
   * @param posters the device's send queues whose requests hold pointers to other objects
   * @param lock the lock that posting threads hold
   */
  SendQueue(
      RdmaCore core,
      long pair,
      QueuePairType type,
      QueuePairCapabilities granted,
      DeviceAttributes device,
      boolean signalsAll,
      DeviceQuirks quirks,
      Posters posters,
      Object lock) {
    this.core = core;
    extension = core instanceof Extension jni ? jni : null;
    this.pair = pair;
    rules = new SendRules(type, granted, device, quirks);
    batch = new SendBatch(granted.maxSendScatterGather(), granted.maxInlineData(), quirks);
    chain = batch.chain();
    slots = new Slots(granted.maxSend(), quirks.neverFlushesLate());
    this.signalsAll = signalsAll;
    this.quirks = quirks;
    this.posters = posters;
    this.lock = lock;
  }

  Slots slots() {
    return slots;
  }

  /**
   * Posts a request and those linked to it, up to the first that is refused.
   *
   * @param tag the tag of the queue pair, for {@link Cookie cookies}
   * @throws PostException with the id of the request that was refused
   */
  void post(SendWorkRequest first, int tag) {
    Extension jni = extension;
    if (jni != null && first.next() == null && rules.isPlain(first)) {
      postPlain(jni, first, tag);
    } else {
      postLinked(first, tag);
    }
  }

  private void postPlain(Extension jni, SendWorkRequest request, int tag) {
    if (slots.isFull()) {
      throw full(request.id());
    }
    ScatterGatherList buffer = request.buffers();
    int refused =
        jni.postOneSend(
            pair,
            Cookie.send(tag, take(request)),
            request.opcode().code(),
            batch.flags(request),
            request.remoteAddress(),
            request.remoteKey(),
            buffer.address(0),
            buffer.length(0),
            buffer.lkey(0));
    if (isRefused(refused)) {
      throw PostErrors.byDriver(slots.giveBack(1), refused);
    }
  }

  /**
   * Returns whether the driver refused a post. On a device that never flushes late posts, ENOTCONN
   * is no refusal: libsiw's siw_post_send has put the request into the queue while the connection
   * ends, and it is flushed with the others.
   */
  private boolean isRefused(int answer) {
    return answer < 0 && !(quirks.neverFlushesLate() && answer == -Errno.ENOTCONN);
  }

  private void postLinked(SendWorkRequest first, int tag) {
    SendWorkRequest next = first;
    while (next != null) {
      chain.clear();
      PostException refusal = null;
      while (next != null && !chain.isFull()) {
        refusal = refuse(next);
        if (refusal != null) {
          break;
        }
        batch.add(next, Cookie.send(tag, take(next)));
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
   * Posts a bind of a window of type 1.
   *
   * @param tag the tag of the queue pair, for {@link Cookie cookies}
   * @throws PostException if it is refused
   */
  void bind(SendWorkRequest request, int tag) {
    leadToObjects();
    PostException refusal = rules.refuseWindow(request);
    if (refusal == null && slots.isFull()) {
      refusal = full(request.id());
    }
    if (refusal != null) {
      throw refusal;
    }
    MemoryWindow window = request.window();
    MemoryRegion region = request.windowRegion();
    ScatterGatherList buffers = request.buffers();
    boolean shows = buffers.totalLength() > 0;
    int refused =
        core.bindWindow(
            pair,
            ((DisniMemoryWindow) window).pointer(),
            Cookie.send(tag, take(request)),
            request.flags(),
            ((DisniMemoryRegion) region).pointer(),
            shows ? buffers.address(0) : 0,
            shows ? buffers.length(0) : 0,
            request.windowAccess());
    if (refused < 0) {
      throw PostErrors.byDriver(slots.giveBack(1), refused);
    }
  }

  /**
   * Completes a request and those linked to it with WR_FLUSH_ERR, without posting them.
   *
   * @param queuePair the number of the queue pair
   * @throws PostException with the id of the request that is refused
   */
  void flush(SendWorkRequest first, int tag, int queuePair, DisniCompletionQueue completions) {
    for (SendWorkRequest next = first; next != null; next = next.next()) {
      PostException refusal = refuse(next);
      if (refusal != null) {
        throw refusal;
      }
      completions.flush(Cookie.send(tag, take(next)), queuePair);
    }
  }

  private int take(SendWorkRequest request) {
    boolean signaled = signalsAll || (request.flags() & SendWorkRequest.SIGNALED) != 0;
    return slots.take(request.id(), signaled);
  }

  private @Nullable PostException refuse(SendWorkRequest request) {
    PostException refusal = null;
    if (!rules.isPlain(request) && !rules.isPlainInline(request)) {
      if (rules.leadsToObjects(request)) {
        leadToObjects();
      }
      refusal = rules.refuse(request);
    }
    return refusal == null && slots.isFull() ? full(request.id()) : refusal;
  }

  private void leadToObjects() {
    if (!leadsToObjects) {
      leadsToObjects = true;
      posters.add(lock);
    }
  }

  private PostException full(long id) {
    return PostErrors.full(id, "sends", slots.capacity());
  }

  private void post() {
    int refused = core.postSend(pair, chain.address(), chain.badAddress());
    if (isRefused(refused)) {
      throw PostErrors.byDriver(slots.giveBack(chain.notPosted()), refused);
    }
  }
}
