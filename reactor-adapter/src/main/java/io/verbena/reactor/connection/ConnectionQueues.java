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
 * The queue pair of a connection, with its send slots, its receives, its place in the loop, and its
 * meter. Its receives come from the loop's pool, or are its own where the loop has no pool. Only on
 * the loop.
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
   * Creates a queue pair whose completions {@code member} handles. Frees everything if this throws.
   *
   * @param member is also called when the HCA has refused receives
   * @param ticks requested while something has a deadline
   * @param onRefusal ends the connection when the HCA has refused a posted request
   * @throws VerbsException if the HCA refuses
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
      slots = new OneSidedSlots(sends, pair, device);
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
   * Makes receives available to the peer: posts {@code first} receives of its own, or takes them
   * from the pool, whose completions {@code user} handles.
   *
   * @param onFailure called, on any thread, when the queue pair fails by itself; with a pool only
   * @throws MemoryLimitException at the limit on registered memory; what was posted stays
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

  /**
   * Frees everything after {@code why} kept the connection from being made; what that throws is
   * suppressed by {@code why}.
   */
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

  /** Takes the frame of a completed receive of the connection's own; the caller owns it. */
  ByteBuf take(int sequence) {
    return requireNonNull(ownReceives, "receives come from the pool").take(sequence);
  }

  OneSidedSlots slots() {
    return slots;
  }

  /**
   * Moves the queue pair to its error state, which flushes all posted requests.
   *
   * @throws VerbsException if the HCA refuses
   */
  void stop() {
    ReceiveShare.stop(pair);
  }

  /**
   * Posts a {@link FlushMarker} behind all other requests where no completion might show the end of
   * the flush otherwise; does nothing while no slot is free. Receives of a pool are not flushed:
   * those that the HCA consumed have completions before the marker's.
   *
   * @throws VerbsException if the HCA refuses
   */
  void markEnd() {
    if ((sends.isEndUnsent() || isEndUnmarked()) && sends.free() > 0) {
      marked = true;
      markNow();
    }
  }

  private boolean isEndUnmarked() {
    return share != null && !marked;
  }

  /**
   * Posts a {@link FlushMarker} to a failed queue pair if requests are in flight: its completion
   * shows the failure. Earlier requests may have succeeded, with completions still to be polled.
   *
   * @return false if no request is in flight
   * @throws VerbsException if the HCA refuses
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

  /**
   * Posts a {@link FlushMarker} at once, so that the end takes no further duty cycle where posts
   * are linked.
   */
  private void markNow() {
    ask(new FlushMarker());
    sends.postLinked();
  }

  /** Returns how many sends and receives have completed, modulo 2<sup>32</sup>. */
  int completed() {
    return sends.completed() + receives.completed();
  }

  /** Posts a keep-alive probe, which the peer's HCA answers. */
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
