// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import static java.util.Objects.requireNonNull;

import io.rsocket.frame.FrameLengthCodec;
import io.rsocket.transport.Transport;
import io.verbena.RdmaConnection;
import io.verbena.RdmaTransport;
import java.net.URI;

/**
 * The common part of the transports of clients and of servers: an address, the transport below, and
 * the limit of what may wait on a connection. Immutable and thread-safe.
 *
 * @param <T> which of the two
 */
abstract class FrameTransport<T extends FrameTransport<T>> implements Transport {
  /** The bytes that may wait on a connection by default: some of the longest frames. */
  private static final long SEND_QUEUE_LIMIT = 64L << 20;

  private final URI address;
  private final RdmaTransport transport;
  private final SendQueues sendQueues;

  /** Creates a transport with the default limit. */
  FrameTransport(URI address, RdmaTransport transport) {
    this(address, transport, SendQueues.of(address, transport, SEND_QUEUE_LIMIT));
  }

  FrameTransport(URI address, RdmaTransport transport, SendQueues sendQueues) {
    this.address = requireNonNull(address, "address");
    this.transport = requireNonNull(transport, "transport");
    this.sendQueues = sendQueues;
  }

  /** The same with other send queues. */
  abstract T with(SendQueues queues);

  /** Returns where to connect to, or to listen. */
  final URI address() {
    return address;
  }

  /** Returns whose loops and memory are used. */
  final RdmaTransport transport() {
    return transport;
  }

  /** RSocket's view of a connection of this transport, which it takes over. */
  final FrameConnection frames(RdmaConnection connection) {
    return FrameConnection.over(connection, sendQueues);
  }

  /**
   * The same with another limit, and with {@link #sendQueues} of its own.
   *
   * @param bytes the most that may wait on a connection, above 0; a frame counts 256 at least
   */
  public final T sendQueueLimit(long bytes) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("sendQueueLimit: " + bytes + " (expected: > 0)");
    }
    return with(SendQueues.of(address, transport, bytes));
  }

  /** Returns what waits on the connections of this transport. */
  public final SendQueues sendQueues() {
    return sendQueues;
  }

  /** No longer than a message of the transport, nor than what a frame says of its own parts. */
  @Override
  public final int maxFrameLength() {
    return Math.min(transport.options().maxMessageSize(), FrameLengthCodec.FRAME_LENGTH_MASK);
  }
}
