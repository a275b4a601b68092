// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection, established or on its way ({@code rdma_cm_id}).
 *
 * <pre>{@code
 * active:   resolve -> ADDR_RESOLVED -> createQueuePair -> connect -> ESTABLISHED | REJECTED |
 *           UNREACHABLE | CONNECT_ERROR
 * passive:  CONNECT_REQUEST -> createQueuePair -> accept -> ESTABLISHED | CONNECT_ERROR
 *                           -> reject
 * either:   ESTABLISHED -> disconnect, or the peer's -> DISCONNECTED
 * }</pre>
 *
 * <p>In {@link PortSpace#UDP} it is one request for the queue pair of a datagram service, and its
 * answer:
 *
 * <pre>{@code
 * active:   resolve -> ADDR_RESOLVED -> createQueuePair -> connect -> ESTABLISHED, with the peer |
 *           UNREACHABLE
 * passive:  CONNECT_REQUEST -> createQueuePair -> accept
 *                           -> reject
 * }</pre>
 *
 * After that, no event tells one end about the other.
 */
public interface ConnectionIdentifier extends AutoCloseable {

  /** Returns the manager that delivers the events of this identifier. */
  ConnectionManager manager();

  /** Returns a human-readable peer address, for logs. */
  String peer();

  /**
   * Returns the IP address and the port of this end ({@code rdma_get_local_addr(3)}), or null if
   * the fabric has no addresses or this end's is not yet known.
   */
  @Nullable InetSocketAddress localAddress();

  /**
   * Returns the IP address and the port of the peer ({@code rdma_get_peer_addr(3)}), or null if the
   * fabric has no addresses. The port is the one that the peer gave.
   */
  @Nullable InetSocketAddress remoteAddress();

  /** Returns the queue pair of {@link #createQueuePair}, or null. */
  @Nullable QueuePair queuePair();

  /**
   * Creates the queue pair of this connection, in {@link QueuePairState#INIT} with every remote
   * right; receives may be posted at once. A queue pair for datagrams is in {@link
   * QueuePairState#RTS}, with {@link DatagramPeer#QUEUE_KEY}. It belongs to the caller, who closes
   * it before this identifier.
   *
   * @throws VerbsException {@code INVALID} if there is one already, or for another type than {@link
   *     PortSpace#type}; else as {@link ProtectionDomain#createQueuePair}
   */
  QueuePair createQueuePair(ProtectionDomain domain, QueuePairOptions options);

  /**
   * Asks the peer to connect; the answer is an event. The queue pair is in RTS at {@link
   * ConnectionEvent.Type#ESTABLISHED}. For datagrams only the private data of the parameters
   * counts, and that event's {@link ConnectionEvent#datagramPeer} is the destination.
   *
   * @param timeoutNanos the time for an answer, in nanoseconds, until {@link
   *     ConnectionEvent.Type#UNREACHABLE}
   * @throws VerbsException {@code INVALID} without a queue pair, in another state, with more than
   *     {@link ConnectionParameters#MAX_CONNECT_DATA} bytes of private data (for datagrams {@link
   *     ConnectionParameters#MAX_DATAGRAM_CONNECT_DATA}), or with parameters beyond the device's
   *     limits
   */
  void connect(ConnectionParameters parameters, long timeoutNanos);

  /**
   * Accepts a request; {@link ConnectionEvent.Type#ESTABLISHED} follows when the peer is ready. For
   * datagrams the answer names the queue pair, and no event follows.
   *
   * @throws VerbsException {@code INVALID} without a queue pair, in another state, with more than
   *     {@link ConnectionParameters#MAX_ACCEPT_DATA} bytes of private data (for datagrams {@link
   *     ConnectionParameters#MAX_DATAGRAM_ACCEPT_DATA}), or with parameters beyond the device's
   *     limits
   */
  void accept(ConnectionParameters parameters);

  /**
   * Rejects a request; the peer gets {@link ConnectionEvent.Type#REJECTED}, or for datagrams {@link
   * ConnectionEvent.Type#UNREACHABLE} with {@link ConnectionEvent#DATAGRAMS_REJECTED}.
   *
   * @throws VerbsException {@code INVALID} in another state, or with more than {@link
   *     ConnectionParameters#MAX_REJECT_DATA} bytes of private data (for datagrams {@link
   *     ConnectionParameters#MAX_DATAGRAM_ACCEPT_DATA})
   */
  void reject(ByteBuffer privateData);

  /**
   * Ends the connection: both ends get {@link ConnectionEvent.Type#DISCONNECTED}, once. This end's
   * queue pair goes to ERR at once, the peer's at the latest when the peer takes its event. Does
   * nothing for datagrams, or if no connection is established.
   */
  void disconnect();

  /** Closes this end; a peer that is still connected gets DISCONNECTED. */
  @Override
  void close();
}
