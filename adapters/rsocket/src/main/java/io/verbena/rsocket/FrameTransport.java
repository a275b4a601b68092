// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import static java.util.Objects.requireNonNull;

import io.rsocket.frame.FrameLengthCodec;
import io.rsocket.transport.Transport;
import io.verbena.RdmaConnection;
import io.verbena.RdmaTransport;
import java.net.URI;

/**
 * The common part of the client and the server transport: an address, the transport below, and the
 * limit on the queued bytes of a connection. Immutable and thread-safe.
 *
 * @param <T> the type of the subclass
 */
abstract class FrameTransport<T extends FrameTransport<T>> implements Transport {
  /** The default limit on the queued bytes of a connection: a few frames of the greatest length. */
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

  /** Returns a copy with other send queues. */
  abstract T with(SendQueues queues);

  /** Returns the address to connect to, or to listen on. */
  final URI address() {
    return address;
  }

  /** Returns the transport whose loops and memory are used. */
  final RdmaTransport transport() {
    return transport;
  }

  /** Returns RSocket's view of a connection of this transport; it takes the connection over. */
  final FrameConnection frames(RdmaConnection connection) {
    return FrameConnection.over(connection, sendQueues);
  }

  /**
   * Returns a copy with another limit on the queued bytes of a connection, and with {@link
   * #sendQueues} of its own.
   *
   * @param bytes the limit, at least 1; a frame counts as at least 256 bytes
   */
  public final T sendQueueLimit(long bytes) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("sendQueueLimit: " + bytes + " (expected: > 0)");
    }
    return with(SendQueues.of(address, transport, bytes));
  }

  /** Returns the send queues of this transport's connections. */
  public final SendQueues sendQueues() {
    return sendQueues;
  }

  /**
   * Returns the longest frame in bytes: no longer than a message of the transport, or than the
   * length fields inside a frame can say.
   */
  @Override
  public final int maxFrameLength() {
    return Math.min(transport.options().maxMessageSize(), FrameLengthCodec.FRAME_LENGTH_MASK);
  }
}
