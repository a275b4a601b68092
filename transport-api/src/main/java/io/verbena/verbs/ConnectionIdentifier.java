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
 * <p>Of {@link PortSpace#UDP}, it is one question for a queue pair of datagrams and its answer:
 *
 * <pre>{@code
 * active:   resolve -> ADDR_RESOLVED -> createQueuePair -> connect -> ESTABLISHED, with the peer |
 *           UNREACHABLE
 * passive:  CONNECT_REQUEST -> createQueuePair -> accept
 *                           -> reject
 * }</pre>
 *
 * After that neither end hears of the other by events, whatever it does.
 */
public interface ConnectionIdentifier extends AutoCloseable {

  /** Returns its manager, which delivers its events. */
  ConnectionManager manager();

  /** Returns a human-readable peer address, for logs. */
  String peer();

  /**
   * Returns the IP address and the port of this end ({@code rdma_get_local_addr(3)}), or null where
   * the fabric has none, or this end is not yet known.
   */
  @Nullable InetSocketAddress localAddress();

  /**
   * Returns the IP address and the port of the peer ({@code rdma_get_peer_addr(3)}), or null where
   * the fabric has none. The port is as the peer gave it.
   */
  @Nullable InetSocketAddress remoteAddress();

  /** Returns the queue pair made for it, or null. */
  @Nullable QueuePair queuePair();

  /**
   * Creates the queue pair of this connection, in {@link QueuePairState#INIT} with every remote
   * right; receives may be posted at once. One for datagrams is in {@link QueuePairState#RTS}, with
   * {@link DatagramPeer#QUEUE_KEY}. It belongs to the caller, who closes it before this.
   *
   * @throws VerbsException {@code INVALID} if it has one, or for another type than its {@link
   *     PortSpace#type}; else as {@link ProtectionDomain#createQueuePair}
   */
  QueuePair createQueuePair(ProtectionDomain domain, QueuePairOptions options);

  /**
   * Asks the peer to connect; the answer is an event. The queue pair is in RTS at {@link
   * ConnectionEvent.Type#ESTABLISHED}. For datagrams the parameters but for the private data mean
   * nothing, and {@link ConnectionEvent#datagramPeer} of that event is where they go.
   *
   * @param timeoutNanos how long the peer may take before {@link ConnectionEvent.Type#UNREACHABLE}
   * @throws VerbsException {@code INVALID} without queue pair, in another state, with more than
   *     {@link ConnectionParameters#MAX_CONNECT_DATA} bytes of private data ({@link
   *     ConnectionParameters#MAX_DATAGRAM_CONNECT_DATA}), or with parameters beyond the device's
   *     limits
   */
  void connect(ConnectionParameters parameters, long timeoutNanos);

  /**
   * Accepts a request; {@link ConnectionEvent.Type#ESTABLISHED} follows when the peer is ready. For
   * datagrams the answer names the queue pair, and no event follows.
   *
   * @throws VerbsException {@code INVALID} without queue pair, in another state, with more than
   *     {@link ConnectionParameters#MAX_ACCEPT_DATA} bytes of private data ({@link
   *     ConnectionParameters#MAX_DATAGRAM_ACCEPT_DATA}), or with parameters beyond the device's
   *     limits
   */
  void accept(ConnectionParameters parameters);

  /**
   * Rejects a request; the peer gets {@link ConnectionEvent.Type#REJECTED}, or where it asked for
   * datagrams {@link ConnectionEvent.Type#UNREACHABLE} with {@link
   * ConnectionEvent#DATAGRAMS_REJECTED}.
   *
   * @throws VerbsException {@code INVALID} in another state, or with more than {@link
   *     ConnectionParameters#MAX_REJECT_DATA} bytes of private data ({@link
   *     ConnectionParameters#MAX_DATAGRAM_ACCEPT_DATA})
   */
  void reject(ByteBuffer privateData);

  /**
   * Ends the connection: both ends get {@link ConnectionEvent.Type#DISCONNECTED}, once. This end's
   * queue pair goes to ERR at once, the peer's at the latest as its event is taken. Of no effect
   * for datagrams, or where nothing is established.
   */
  void disconnect();

  /** Closes this end; a peer that is still connected gets DISCONNECTED. */
  @Override
  void close();
}
