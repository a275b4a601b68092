// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaException;
import io.verbena.RdmaOptions;
import io.verbena.core.device.AsyncEvents;
import io.verbena.core.loop.CompletionQueues;
import io.verbena.core.loop.Membership;
import io.verbena.core.loop.QueueMember;
import io.verbena.core.receive.OwnReceives;
import io.verbena.core.receive.ReceivePool;
import io.verbena.core.receive.ReceiveShare;
import io.verbena.core.receive.Receives;
import io.verbena.netty.wire.Handshake;
import io.verbena.verbs.Capability;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.VerbsException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The queue pair of a stream, whose completions the loop polls, and the memory of its two queues.
 * Its receives are a share of the loop's, or its own if the device has no shared receive queues. On
 * the event loop's thread only.
 */
final class StreamQueues {
  private static final int MOST_INLINE = 256;
  private static final String QUEUE_PAIR = "queue pair";

  private final SharedHca hca;
  private final CompletionQueues<QueueMember> completions;
  private final AsyncEvents deviceEvents;
  private final Membership membership;
  private final boolean trails;
  private final QueuePair queuePair;
  private final int inlineLimit;
  private final StreamSendQueue sendBuffers;
  private final StreamReceiveQueue receiveBuffers;
  private final @Nullable OwnReceives ownReceives;

  /**
   * Creates the queue pair of a connection that is being set up, with its first receives.
   *
   * @param stream gets the completions
   * @param onFailure called on any thread when the device reports that the queue pair has failed
   * @param onRefusal called when the HCA has refused posted requests
   * @throws VerbsException if the device has no resources left
   * @throws RdmaException if there is no memory for receives, or the HCA does not register it
   */
  <S extends QueueMember & ReceivePool.User> StreamQueues(
      RdmaIoHandler handler,
      ConnectionIdentifier identifier,
      S stream,
      Runnable onFailure,
      Consumer<Throwable> onRefusal) {
    hca = handler.hca();
    RdmaOptions options = hca.options();
    int most = Math.min(options.receiveDepth(), Handshake.MOST_RECEIVES);
    int first = LoopReceives.first(options);
    int sends = options.sendDepth();
    trails = !hca.device().attributes().supports(Capability.SEND_WITH_IMMEDIATE);
    completions = handler.queues();
    deviceEvents = hca.events();
    LoopReceives receives = handler.receives();
    ReceiveShare share = receives.join();
    Membership joined = null;
    QueuePair made = null;
    StreamSendQueue out = null;
    OwnReceives own = null;
    try {
      joined = completions.join(stream, share == null ? most + sends : sends);
      membership = joined;
      made =
          identifier.createQueuePair(
              hca.domain(),
              ReceiveShare.reliable(joined.queue(), share, sends, most)
                  .withScatterGather(trails ? 2 : 1, 1)
                  .withInlineData(mostInline()));
      queuePair = made;
      inlineLimit = Math.min(mostInline(), made.capabilities().maxInlineData());
      ReceivePool.User user = stream;
      own = share == null ? receives.open(made, joined.prefix(), most, user::receiveRefused) : null;
      ownReceives = own;
      Receives its = share == null ? requireNonNull(own) : share;
      ControlTrailers trailers =
          trails ? new ControlTrailers(hca.memory(), StreamSendQueue.slots(sends)) : null;
      out =
          new StreamSendQueue(
              made,
              its,
              handler.linkedPosts(),
              onRefusal,
              joined.prefix(),
              sends,
              hca.meter(),
              trailers);
      sendBuffers = out;
      if (own != null) {
        own.fill(first);
      } else {
        requireNonNull(share).serve(made.number(), stream);
        deviceEvents.listenForFailure(made, onFailure);
      }
      receiveBuffers = new StreamReceiveQueue(its, receives.frames(), first, most);
    } catch (Throwable e) {
      if (made != null) {
        hca.close(QUEUE_PAIR, made::close);
      }
      if (out != null) {
        hca.guarded(out::release);
      }
      if (own != null) {
        hca.guarded(own::release);
      }
      if (share != null) {
        hca.guarded(share::release);
      }
      if (joined != null) {
        completions.leave(joined);
      }
      throw e;
    }
  }

  /**
   * Returns the most bytes of inline data: 0 with trailing control words, as inline data is one
   * piece.
   */
  private int mostInline() {
    return trails ? 0 : Math.min(MOST_INLINE, hca.device().attributes().maxInlineData());
  }

  /**
   * Returns whether control words follow the bytes of messages, because the device has no immediate
   * data.
   */
  boolean trails() {
    return trails;
  }

  /** Returns the longest message that is sent as inline data, in bytes. */
  int inlineLimit() {
    return inlineLimit;
  }

  QueuePair queuePair() {
    return queuePair;
  }

  StreamSendQueue sendBuffers() {
    return sendBuffers;
  }

  StreamReceiveQueue receiveBuffers() {
    return receiveBuffers;
  }

  /** Returns whether its receives are a share of the loop's. */
  boolean sharesReceives() {
    return ownReceives == null;
  }

  /** Returns the frame of a completed receive of the stream's own; it belongs to the caller. */
  ByteBuf take(int sequence) {
    return requireNonNull(ownReceives, "receives are the loop's").take(sequence);
  }

  /**
   * Returns whether all receives have completed, once the queue pair is in its error state and its
   * completions are polled.
   */
  boolean areReceivesFlushed() {
    OwnReceives own = ownReceives;
    // Receives of a shared queue are not flushed; the completions of those that the HCA has taken
    // were polled.
    return own == null || own.flushed() == Receives.Flush.DONE;
  }

  /** Closes the queue pair and releases all memory; throws nothing. */
  void close() {
    receiveBuffers.halt();
    hca.guarded(sendBuffers::postLinked);
    deviceEvents.forget(queuePair);
    hca.close(QUEUE_PAIR, queuePair::close);
    hca.guarded(sendBuffers::release);
    hca.guarded(receiveBuffers::release);
    completions.leave(membership);
  }
}
