// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.verbena.core.loop.SilentRounds;
import io.verbena.verbs.CompletionStatus;
import java.time.Duration;

/**
 * Asks a silent peer of a stream for a sign of life, one question at a time, and gives credits back
 * that the stream does not use. On the event loop's thread only.
 */
final class KeepAlive {
  private final SharedHca hca;
  private final SendBuffers sendBuffers;
  private final Stream.Owner owner;
  private final SilentRounds silence = new SilentRounds();
  private int completions;

  /** The count of completions when the last round came by. */
  private int completionsAtRound;

  /** Whether the last request asks for a sign of life that has not come yet. */
  private boolean asked;

  private long askedAt;

  /**
   * @param owner tells whether the peer is asked at all
   */
  KeepAlive(SharedHca hca, SendBuffers sendBuffers, Stream.Owner owner) {
    this.hca = hca;
    this.sendBuffers = sendBuffers;
    this.owner = owner;
  }

  /** A request of the stream has completed. */
  void completed(CompletionStatus status) {
    completions++;
    if (status == CompletionStatus.SUCCESS) {
      asked = false;
    } else if (asked && status == CompletionStatus.RETRY_EXC_ERR) {
      hca.meter().peerFoundDead();
    }
  }

  /**
   * Returns whether the peer has not answered for too long: it is dead, which is metered, once. An
   * HCA that retries for ever, as Soft-RoCE does with a retry count of 7, reports nothing.
   */
  boolean isOverdue() {
    boolean overdue = asked && System.nanoTime() - askedAt > patience().toNanos();
    if (overdue) {
      asked = false;
      hca.meter().peerFoundDead();
    }
    return overdue;
  }

  /** Returns why the stream of such a peer broke. */
  String why() {
    return "no answer to a keep-alive within " + patience();
  }

  private Duration patience() {
    return hca.options().operationTimeout();
  }

  /**
   * A round has gone by.
   *
   * @param works whether the stream may send still
   * @return whether the peer was asked
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
