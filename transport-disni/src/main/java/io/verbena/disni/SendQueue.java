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
 * The send queue of a queue pair. Posters hold its monitor; in which state what may be posted is
 * looked at by the queue pair.
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

  /** Whether its requests lead to other objects, and so it is one of the {@link #posters}. */
  private boolean leadsToObjects;

  /**
   * @param signalsAll whether all complete
   * @param posters those whose requests lead to other objects of the device
   * @param lock held by who posts
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
   * Posts a request and those that are linked behind it, up to the first that is refused.
   *
   * @param tag of the queue pair, for {@link Cookie cookies}
   * @throws PostException naming the request that was refused
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
   * Returns whether the driver did not take a post. Where what is posted in ERR is never flushed,
   * one that comes while the connection ends stands in the queue in spite of the error
   * (siw_post_send of libsiw), and is flushed with all else when the end is there.
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
   * @param tag of the queue pair, for {@link Cookie cookies}
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
   * Takes a request and those that are linked behind it only to complete them as flushed.
   *
   * @param queuePair its number
   * @throws PostException naming the request that is refused
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
