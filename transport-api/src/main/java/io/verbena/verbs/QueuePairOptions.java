// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import org.jspecify.annotations.Nullable;

/**
 * The options that a queue pair is created with ({@code ibv_create_qp(3)}). Capacities are
 * minimums; {@link QueuePair#capabilities} returns the granted ones.
 *
 * @param type the transport service
 * @param sendQueue the completion queue of sends
 * @param receiveQueue the completion queue of receives
 * @param sharedReceiveQueue the shared receive queue, or null for a receive queue of its own
 * @param maxSend send requests outstanding
 * @param maxReceive receives posted; ignored with a shared receive queue
 * @param maxSendScatterGather buffers of a send request
 * @param maxReceiveScatterGather buffers of a receive
 * @param maxInlineData bytes of inline payload
 * @param signalAll whether every send is signaled ({@code sq_sig_all})
 */
public record QueuePairOptions(
    QueuePairType type,
    CompletionQueue sendQueue,
    CompletionQueue receiveQueue,
    @Nullable SharedReceiveQueue sharedReceiveQueue,
    int maxSend,
    int maxReceive,
    int maxSendScatterGather,
    int maxReceiveScatterGather,
    int maxInlineData,
    boolean signalAll) {

  /**
   * Returns options of an RC queue pair with this many sends and receives, one buffer each, nothing
   * inline.
   */
  public static QueuePairOptions reliable(
      CompletionQueue sendQueue, CompletionQueue receiveQueue, int maxSend, int maxReceive) {
    return new QueuePairOptions(
        QueuePairType.RC, sendQueue, receiveQueue, null, maxSend, maxReceive, 1, 1, 0, false);
  }

  /** Returns the same options with another type. */
  public QueuePairOptions withType(QueuePairType value) {
    return new QueuePairOptions(
        value,
        sendQueue,
        receiveQueue,
        sharedReceiveQueue,
        maxSend,
        maxReceive,
        maxSendScatterGather,
        maxReceiveScatterGather,
        maxInlineData,
        signalAll);
  }

  /** Returns the same options with this many buffers for each send and each receive. */
  public QueuePairOptions withScatterGather(int send, int receive) {
    return new QueuePairOptions(
        type,
        sendQueue,
        receiveQueue,
        sharedReceiveQueue,
        maxSend,
        maxReceive,
        send,
        receive,
        maxInlineData,
        signalAll);
  }

  /** Returns the same options with this many bytes of inline payload. */
  public QueuePairOptions withInlineData(int bytes) {
    return new QueuePairOptions(
        type,
        sendQueue,
        receiveQueue,
        sharedReceiveQueue,
        maxSend,
        maxReceive,
        maxSendScatterGather,
        maxReceiveScatterGather,
        bytes,
        signalAll);
  }

  /** Returns the same options with every send signaled. */
  public QueuePairOptions withSignalAll() {
    return new QueuePairOptions(
        type,
        sendQueue,
        receiveQueue,
        sharedReceiveQueue,
        maxSend,
        maxReceive,
        maxSendScatterGather,
        maxReceiveScatterGather,
        maxInlineData,
        true);
  }

  /** Returns the same options with a shared receive queue. */
  public QueuePairOptions withSharedReceiveQueue(SharedReceiveQueue queue) {
    return new QueuePairOptions(
        type,
        sendQueue,
        receiveQueue,
        queue,
        maxSend,
        maxReceive,
        maxSendScatterGather,
        maxReceiveScatterGather,
        maxInlineData,
        signalAll);
  }
}
