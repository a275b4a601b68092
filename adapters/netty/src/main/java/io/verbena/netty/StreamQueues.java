// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.verbena.RdmaException;
import io.verbena.RdmaOptions;
import io.verbena.core.loop.CompletionQueues;
import io.verbena.core.loop.Membership;
import io.verbena.netty.wire.Handshake;
import io.verbena.verbs.Capability;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.VerbsException;

/**
 * What a stream has of its HCA: a queue pair whose completions the loop polls, and the memory of
 * both its queues. On the event loop's thread only.
 */
final class StreamQueues {
  private static final int FIRST_RECEIVES = 4;
  private static final int MOST_INLINE = 256;

  private final CompletionQueues<Stream> completions;
  private final Membership membership;
  private final boolean trails;
  private final QueuePair queuePair;
  private final int inlineLimit;
  private final SendBuffers sendBuffers;
  private final ReceiveBuffers receiveBuffers;

  /**
   * Creates the queue pair of a connection that is being set up, and posts its first receives.
   *
   * @throws VerbsException if the device has no resources left
   * @throws RdmaException if there is no memory for receives, or the HCA does not register it
   */
  StreamQueues(RdmaIoHandler handler, ConnectionIdentifier identifier, Stream stream) {
    SharedHca hca = handler.hca();
    RdmaOptions options = hca.options();
    int receives = Math.min(options.receiveDepth(), Handshake.MOST_RECEIVES);
    int sends = options.sendDepth();
    trails = !hca.device().attributes().supports(Capability.SEND_WITH_IMMEDIATE);
    completions = handler.queues();
    Membership joined = completions.join(stream, receives + sends);
    membership = joined;
    QueuePair made = null;
    SendBuffers out = null;
    try {
      made =
          identifier.createQueuePair(
              hca.domain(),
              QueuePairOptions.reliable(joined.queue(), joined.queue(), sends, receives)
                  .withScatterGather(trails ? 2 : 1, 1)
                  .withInlineData(mostInline(hca)));
      inlineLimit = Math.min(mostInline(hca), made.capabilities().maxInlineData());
      SignalTrailers trailers =
          trails ? new SignalTrailers(hca.memory(), SendBuffers.slots(sends)) : null;
      out = new SendBuffers(made, joined.prefix(), sends, hca.meter(), trailers);
      sendBuffers = out;
      receiveBuffers =
          new ReceiveBuffers(
              hca.memory(),
              made,
              joined.prefix(),
              options.eagerSize(),
              trails ? SignalTrailers.LENGTH : 0,
              Math.min(FIRST_RECEIVES, receives),
              receives);
      queuePair = made;
    } catch (VerbsException | RdmaException e) {
      if (made != null) {
        made.close();
      }
      if (out != null) {
        out.release();
      }
      completions.leave(joined);
      throw e;
    }
  }

  /** What a signal stands behind cannot be inline, which is one piece. */
  private int mostInline(SharedHca hca) {
    return trails ? 0 : Math.min(MOST_INLINE, hca.device().attributes().maxInlineData());
  }

  /** Returns whether signals stand behind the bytes of messages, for want of immediate data. */
  boolean trails() {
    return trails;
  }

  /** Returns the longest message that a request takes along, in bytes. */
  int inlineLimit() {
    return inlineLimit;
  }

  QueuePair queuePair() {
    return queuePair;
  }

  SendBuffers sendBuffers() {
    return sendBuffers;
  }

  ReceiveBuffers receiveBuffers() {
    return receiveBuffers;
  }

  /** Releases the memory, once the queue pair is closed. */
  void release() {
    sendBuffers.release();
    receiveBuffers.release();
    completions.leave(membership);
  }
}
