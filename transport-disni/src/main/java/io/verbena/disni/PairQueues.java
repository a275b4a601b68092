// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.Words.QueuePairWords;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairReading.Figure;
import io.verbena.verbs.QueuePairType;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The completion queues of a queue pair and its shared receive queue, if it has one. They cannot be
 * closed while the queue pair is attached to them.
 */
final class PairQueues {
  private final DisniCompletionQueue sends;
  private final DisniCompletionQueue receives;
  private final @Nullable DisniSharedReceiveQueue shared;
  private SharedSlots.@Nullable Taker taker;
  private int attached;

  PairQueues(QueuePairOptions options) {
    sends = (DisniCompletionQueue) options.sendQueue();
    receives = (DisniCompletionQueue) options.receiveQueue();
    shared = (DisniSharedReceiveQueue) options.sharedReceiveQueue();
  }

  DisniCompletionQueue sends() {
    return sends;
  }

  DisniCompletionQueue receives() {
    return receives;
  }

  @Nullable DisniSharedReceiveQueue shared() {
    return shared;
  }

  /** Attaches to all queues; if one is closed, attaches to none. */
  void attach(QueuePairType type) {
    boolean whole = false;
    try {
      sends.attach();
      attached++;
      receives.attach();
      attached++;
      if (shared != null) {
        shared.attach(type);
      }
      attached++;
      whole = true;
    } finally {
      if (!whole) {
        detach();
      }
    }
  }

  /** Registers the created queue pair at the shared receive queue. */
  void join(int number, QueuePairType type) {
    if (shared != null) {
      taker = shared.join(number, type);
    }
  }

  /**
   * Drops the queue pair's completions of receives of a shared receive queue, and frees their
   * slots.
   */
  void purge(int number) {
    if (shared != null) {
      receives.purge(number);
    }
  }

  /** Tells the shared receive queue that the queue pair was reset and holds no receives. */
  void emptied() {
    SharedSlots.Taker joined = taker;
    if (joined != null && shared != null) {
      shared.emptied(joined);
    }
  }

  /** Detaches from all queues, after the queue pair was destroyed or could not be created. */
  void detach() {
    SharedSlots.Taker joined = taker;
    if (joined != null && shared != null) {
      taker = null;
      shared.leave(joined);
    }
    if (attached > 0) {
      sends.detach();
    }
    if (attached > 1) {
      receives.detach();
    }
    if (attached > 2 && shared != null) {
      shared.detach();
    }
    attached = 0;
  }

  /** Waits until no poller can free a slot of a queue that it found before this call. */
  void awaitPollers() {
    sends.awaitPoller();
    receives.awaitPoller();
  }

  /**
   * Adds the depths of the completion queues; only the HCA knows how many completions wait there.
   */
  void read(Map<Figure, Long> into) {
    into.put(Figure.SEND_COMPLETIONS_SIZE, (long) sends.depth());
    into.put(Figure.RECEIVE_COMPLETIONS_SIZE, (long) receives.depth());
  }

  /** Returns the arguments for creating the queue pair. */
  Block words(QueuePairOptions options) {
    return Block.of(QueuePairWords.values())
        .set(QueuePairWords.TYPE, options.type().code())
        .set(QueuePairWords.SEND_CQ, sends.pointer())
        .set(QueuePairWords.RECV_CQ, receives.pointer())
        .set(QueuePairWords.SRQ, shared == null ? 0 : shared.pointer())
        .set(QueuePairWords.SQ_SIG_ALL, options.signalAll() ? 1 : 0)
        .set(QueuePairWords.MAX_SEND_WR, options.maxSend())
        .set(QueuePairWords.MAX_RECV_WR, shared == null ? options.maxReceive() : 0)
        .set(QueuePairWords.MAX_SEND_SGE, options.maxSendScatterGather())
        .set(QueuePairWords.MAX_RECV_SGE, shared == null ? options.maxReceiveScatterGather() : 0)
        .set(QueuePairWords.MAX_INLINE_DATA, options.maxInlineData());
  }
}
