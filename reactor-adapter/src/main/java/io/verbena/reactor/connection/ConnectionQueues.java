// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.verbena.MemoryLimitException;
import io.verbena.core.event.ConnectionRecorder;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.LoopMember;
import io.verbena.core.loop.Membership;
import io.verbena.core.loop.Ticks;
import io.verbena.core.stat.OpenQueuePairs;
import io.verbena.meters.ConnectionMeter;
import io.verbena.reactor.queue.LoopResources;
import io.verbena.reactor.queue.OneSidedSlots;
import io.verbena.reactor.queue.RequestOwner;
import io.verbena.reactor.queue.SendSlots;
import io.verbena.reactor.receive.ReceiveSlots;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.VerbsException;

/**
 * The queue pair of a connection: its two queues, its place in the loop, and who measures it. Only
 * on the loop.
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
  private final ReceiveSlots receives;
  private final OneSidedSlots slots;
  private final ConnectionRecorder events;

  /**
   * Makes a queue pair whose completions {@code member} gets. Nothing is kept if this throws.
   *
   * @param ticks asked for while something has a deadline
   * @throws VerbsException if the HCA cannot
   */
  ConnectionQueues(
      ConnectionContext context,
      ConnectionIdentifier identifier,
      LoopMember member,
      Ticks ticks,
      int receiveDepth) {
    resources = context.resources();
    loop = resources.loop();
    DeviceAttributes device = loop.device().attributes();
    int sendDepth = Math.min(context.options().sendDepth(), device.maxWorkRequests());
    membership = loop.join(member, sendDepth + receiveDepth);
    QueuePair made = null;
    ConnectionMeter measuring = ConnectionMeter.OFF;
    try {
      made =
          identifier.createQueuePair(
              context.domain(),
              QueuePairOptions.reliable(
                      membership.queue(), membership.queue(), sendDepth, receiveDepth)
                  .withScatterGather(device.maxScatterGather() >= 2 ? 2 : 1, 1));
      pair = made;
      statistics = new ConnectionStatistics(sendDepth);
      measuring = resources.meter().connection(statistics, SendSlots.slotsFor(sendDepth));
      meter = measuring;
      sends = new SendSlots(pair, loop, ticks, membership.prefix(), sendDepth, meter);
      statistics.sends(sends);
      OpenQueuePairs.use(pair, statistics);
      receives =
          new ReceiveSlots(pair, context.receiveBuffers(), membership.prefix(), receiveDepth);
      slots = new OneSidedSlots(sends, device);
      events = new ConnectionRecorder("reactor", identifier.peer(), pair.number());
    } catch (Throwable e) {
      if (made != null) {
        QueuePair unused = made;
        undo(e, () -> resources.close(QUEUE_PAIR, unused::close));
      }
      undo(e, measuring::close);
      undo(e, () -> loop.leave(membership));
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
   * Posts so many receives.
   *
   * @throws MemoryLimitException at the ceiling; what was posted stays
   */
  void fill(int receiveDepth) {
    receives.fill(receiveDepth);
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

  ReceiveSlots receives() {
    return receives;
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
    if (pair.state() != QueuePairState.ERR) {
      pair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
    }
  }

  /**
   * Posts what is flushed for certain, and behind all else, where the flush would else stay unseen;
   * with no free slot, once there is one.
   *
   * @throws VerbsException if the HCA cannot
   */
  void markEnd() {
    if (sends.isEndUntold() && sends.free() > 0) {
      ask(new FlushMarker());
    }
  }

  /** How many requests of both kinds have completed, modulo 2<sup>32</sup>. */
  int completed() {
    return sends.completed() + receives.completed();
  }

  /** Asks the peer's HCA for an acknowledgement: by a WRITE of nothing, which needs no key. */
  void ask(RequestOwner owner) {
    int slot = sends.nextSlot();
    sends.post(resources.send().write(0, 0).signaled(), owner);
    meter.forget(slot);
  }

  /** Whether nothing is posted any more. */
  boolean isFlushed() {
    return sends.isEmpty() && receives.isEmpty();
  }

  /** Destroys the queue pair: the HCA lets go of all memory. */
  void closePair() {
    resources.close(QUEUE_PAIR, pair::close);
  }

  void leaveLoop() {
    loop.leave(membership);
  }
}
