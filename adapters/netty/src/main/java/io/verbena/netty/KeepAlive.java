// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.verbena.core.loop.SilentRounds;
import io.verbena.verbs.CompletionStatus;
import java.time.Duration;

/**
 * Probes the silent peer of a stream, one probe at a time, and returns credits that the stream does
 * not use. On the event loop's thread only.
 */
final class KeepAlive {
  private final SharedHca hca;
  private final StreamSendQueue sendBuffers;
  private final Stream.Owner owner;
  private final SilentRounds silence = new SilentRounds();
  private int completions;

  /** The count of completions at the end of the last round. */
  private int completionsAtRound;

  /** Whether a probe was posted that has not completed. */
  private boolean asked;

  private long askedAt;

  /**
   * @param owner decides whether the peer is probed
   */
  KeepAlive(SharedHca hca, StreamSendQueue sendBuffers, Stream.Owner owner) {
    this.hca = hca;
    this.sendBuffers = sendBuffers;
    this.owner = owner;
  }

  /** Notes that a request of the stream has completed. */
  void completed(CompletionStatus status) {
    completions++;
    if (status == CompletionStatus.SUCCESS) {
      asked = false;
    } else if (asked && status == CompletionStatus.RETRY_EXC_ERR) {
      hca.meter().peerFoundDead();
    }
  }

  /**
   * Returns whether the peer has not answered a probe within {@link
   * io.verbena.RdmaOptions#operationTimeout}. Such a peer is metered as dead, once. An HCA that
   * retries for ever, as Soft-RoCE does with a retry count of 7, would report nothing.
   */
  boolean isOverdue() {
    boolean overdue = asked && System.nanoTime() - askedAt > patience().toNanos();
    if (overdue) {
      asked = false;
      hca.meter().peerFoundDead();
    }
    return overdue;
  }

  /** Returns the reason with which the stream of an overdue peer breaks. */
  String why() {
    return "no answer to a keep-alive within " + patience();
  }

  private Duration patience() {
    return hca.options().operationTimeout();
  }

  /**
   * Ends a round.
   *
   * @param works whether the stream can still send
   * @return whether a probe was posted
   */
  boolean endRound(boolean works) {
    boolean idle = completions == completionsAtRound;
    completionsAtRound = completions;
    if (idle && works && sendBuffers.canGiveBack()) {
      sendBuffers.giveBack();
    }
    boolean asks =
        !asked && silence.end(completions) && works && sendBuffers.canAsk() && owner.isKeepAlive();
    if (asks) {
      sendBuffers.ask();
      asked = true;
      askedAt = System.nanoTime();
      hca.meter().peerAsked();
    }
    return asks;
  }
}
