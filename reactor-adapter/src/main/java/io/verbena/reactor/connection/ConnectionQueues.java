// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.verbena.MemoryLimitException;
import io.verbena.core.device.AsyncEvents;
import io.verbena.core.event.ConnectionRecorder;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.KeepAliveProbe;
import io.verbena.core.loop.LoopMember;
import io.verbena.core.loop.Membership;
import io.verbena.core.loop.Ticks;
import io.verbena.core.receive.OwnReceives;
import io.verbena.core.receive.ReceivePool;
import io.verbena.core.receive.ReceiveShare;
import io.verbena.core.receive.Receives;
import io.verbena.core.stat.OpenQueuePairs;
import io.verbena.meters.ConnectionMeter;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.reactor.queue.LoopResources;
import io.verbena.reactor.queue.OneSidedSlots;
import io.verbena.reactor.queue.RequestOwner;
import io.verbena.reactor.queue.SendSlots;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * The queue pair of a connection: its two queues, its place in the loop, and its meter. It takes
 * receives from the pool of its loop, or has its own where the device has no shared receive queues.
 * Only on the loop.
 */
final class ConnectionQueues {
  private static final String QUEUE_PAIR = "queue pair";

  private final LoopResources resources;
  private final CompletionLoop loop;
  private final Membership membership;
  private final QueuePair pair;
  private final ConnectionMeter meter;
  private final ConnectionStatistics statistics;
  private final SendSlots sends;
  private final AsyncEvents deviceEvents;
  private final Receives receives;
  private final @Nullable OwnReceives ownReceives;
  private final @Nullable ReceiveShare share;
  private final OneSidedSlots slots;
  private final ConnectionRecorder events;
  private boolean marked;

  /**
   * Makes a queue pair whose completions {@code member} gets. Nothing is kept if this throws.
   *
   * @param member is also told when the HCA has refused receives
   * @param ticks asked for while something has a deadline
   * @param onRefusal ends the connection when the HCA has refused what was posted
   * @throws VerbsException if the HCA cannot
   */
  <M extends LoopMember & ReceivePool.User> ConnectionQueues(
      ConnectionContext context,
      ConnectionIdentifier identifier,
      M member,
      Ticks ticks,
      FailureGuard.Handler onRefusal,
      int receiveDepth) {
    resources = context.resources();
    loop = resources.loop();
    DeviceAttributes device = loop.device().attributes();
    int sendDepth = Math.min(context.options().sendDepth(), device.maxWorkRequests());
    deviceEvents = context.deviceEvents();
    ReceivePool pool = context.receivePool();
    ReceiveShare joined = pool == null ? null : pool.join();
    Membership entered = null;
    QueuePair made = null;
    ConnectionMeter measuring = ConnectionMeter.OFF;
    try {
      entered = loop.queues().join(member, joined == null ? sendDepth + receiveDepth : sendDepth);
      membership = entered;
      made =
          identifier.createQueuePair(
              context.domain(),
              ReceiveShare.reliable(membership.queue(), joined, sendDepth, receiveDepth)
                  .withScatterGather(device.maxScatterGather() >= 2 ? 2 : 1, 1)
                  .withInlineData(SendSlots.inlineData(loop.device())));
      pair = made;
      statistics = new ConnectionStatistics(sendDepth);
      measuring = resources.meter().connection(statistics, SendSlots.slotsFor(sendDepth));
      meter = measuring;
      share = joined;
      ReceivePool.User user = member;
      ownReceives =
          joined == null
              ? requireNonNull(context.receiveQueues())
                  .open(pair, membership.prefix(), receiveDepth, user::receiveRefused)
              : null;
      receives = joined == null ? requireNonNull(ownReceives) : joined;
      sends =
          new SendSlots(
              pair, receives, resources, ticks, membership.prefix(), sendDepth, meter, onRefusal);
      statistics.sends(sends);
      OpenQueuePairs.use(pair, statistics);
      slots = new OneSidedSlots(sends, device);
      events = new ConnectionRecorder("reactor", identifier.peer(), pair.number());
    } catch (Throwable e) {
      if (made != null) {
        QueuePair unused = made;
        undo(e, () -> resources.close(QUEUE_PAIR, unused::close));
      }
      undo(e, measuring::close);
      if (joined != null) {
        undo(e, joined::release);
      }
      if (entered != null) {
        Membership left = entered;
        undo(e, () -> loop.queues().leave(left));
      }
      throw e;
    }
  }

  private static void undo(Throwable why, Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      if (e != why) {
        why.addSuppressed(e);
      }
    }
  }

  /**
   * Sees to it that the peer can send: posts its first receives, unless they are in the pool, whose
   * completions {@code user} gets.
   *
   * @param onFailure called, on any thread, when the queue pair fails by itself
   * @throws MemoryLimitException at the ceiling; what was posted stays
   */
  void serve(ReceivePool.User user, int first, Runnable onFailure) {
    OwnReceives own = ownReceives;
    if (own != null) {
      own.fill(first);
      return;
    }
    requireNonNull(share).serve(pair.number(), user);
    deviceEvents.listenForFailure(pair, onFailure);
  }

  /** Frees everything for {@code why}, which keeps the connection from being made. */
  void giveUp(Throwable why) {
    undo(why, this::closePair);
    undo(why, receives::release);
    undo(why, meter::close);
    undo(why, this::leaveLoop);
  }

  ConnectionMeter meter() {
    return meter;
  }

  ConnectionRecorder events() {
    return events;
  }

  ConnectionStatistics statistics() {
    return statistics;
  }

  SendSlots sends() {
    return sends;
  }

  Receives receives() {
    return receives;
  }

  /** Takes the frame of a receive of its own that completed. */
  ByteBuf take(int sequence) {
    return requireNonNull(ownReceives, "receives come from the pool").take(sequence);
  }

  OneSidedSlots slots() {
    return slots;
  }

  /**
   * Brings the queue pair into its error state: all that is posted is flushed.
   *
   * @throws VerbsException if the HCA cannot
   */
  void stop() {
    ReceiveShare.stop(pair);
  }

  /**
   * Posts what is flushed for certain, and behind all else, where the flush would else stay unseen;
   * with no free slot, once there is one. Receives of a pool are not flushed: those that the HCA
   * took stand in the completion queue before this.
   *
   * @throws VerbsException if the HCA cannot
   */
  void markEnd() {
    if ((sends.isEndUntold() || isEndUnmarked()) && sends.free() > 0) {
      marked = true;
      markNow();
    }
  }

  private boolean isEndUnmarked() {
    return share != null && !marked;
  }

  /**
   * Makes a failed queue pair show its failure by a completion, if anything is posted. What was
   * posted may have succeeded before that, and wait to be polled.
   *
   * @return false if nothing is
   * @throws VerbsException if the HCA cannot
   */
  boolean markFailure() {
    if (sends.isEmpty()) {
      return false;
    }
    if (sends.free() > 0) {
      markNow();
    }
    return true;
  }

  /** At once, so that an end takes no duty cycle more where posts are linked. */
  private void markNow() {
    ask(new FlushMarker());
    sends.postLinked();
  }

  /** Returns how many requests of both kinds have completed, modulo 2<sup>32</sup>. */
  int completed() {
    return sends.completed() + receives.completed();
  }

  /** Asks the peer's HCA for an answer. */
  void ask(RequestOwner owner) {
    int slot = sends.nextSlot();
    sends.post(KeepAliveProbe.fill(sends.request(), pair), owner);
    meter.forget(slot);
  }

  /** Returns how far both queues are flushed. */
  Receives.Flush flushed() {
    return sends.isEmpty() && !isEndUnmarked() ? receives.flushed() : Receives.Flush.UNDER_WAY;
  }

  /** Destroys the queue pair: the HCA releases all its memory. */
  void closePair() {
    sends.postLinked();
    deviceEvents.forget(pair);
    resources.close(QUEUE_PAIR, pair::close);
  }

  void leaveLoop() {
    loop.queues().leave(membership);
  }
}
