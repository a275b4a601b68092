// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Something that happened to a connection ({@code rdma_get_cm_event(3)}).
 *
 * @param type what happened
 * @param identifier the connection; for a {@link Type#CONNECT_REQUEST} a new one, which the
 *     receiver of the event accepts, rejects or closes
 * @param listener for a {@link Type#CONNECT_REQUEST} the listener it came to, else null
 * @param status 0, or why: a negative {@code errno}, or for {@link Type#REJECTED} the reason
 * @param privateData what the peer sent along, read-only; some providers pad it with zeros to the
 *     most that the message carries
 * @param responderResources READs and atomics that the peer serves at once
 * @param initiatorDepth READs and atomics that the peer has outstanding at once
 * @param datagramPeer for {@link Type#ESTABLISHED} of an identifier of {@link PortSpace#UDP} where
 *     datagrams go, else null
 */
public record ConnectionEvent(
    Type type,
    ConnectionIdentifier identifier,
    @Nullable ConnectionListener listener,
    int status,
    ByteBuffer privateData,
    int responderResources,
    int initiatorDepth,
    @Nullable DatagramPeer datagramPeer) {

  /** {@link #status} of a rejection when nobody listens ({@code IB_CM_REJ_INVALID_SERVICE_ID}). */
  public static final int REJECT_INVALID_SERVICE_ID = 8;

  /** {@link #status} of a rejection by the program ({@code IB_CM_REJ_CONSUMER_DEFINED}). */
  public static final int REJECT_CONSUMER_DEFINED = 28;

  /**
   * {@link #status} of {@link Type#UNREACHABLE} when nobody serves datagrams there ({@code
   * IB_SIDR_UNSUPPORTED}).
   */
  public static final int DATAGRAMS_UNSUPPORTED = 1;

  /**
   * {@link #status} of {@link Type#UNREACHABLE} when who serves datagrams there refuses ({@code
   * IB_SIDR_REJECT}).
   */
  public static final int DATAGRAMS_REJECTED = 2;

  /** {@link #status} when a step took longer than its deadline ({@code -ETIMEDOUT}). */
  public static final int TIMED_OUT = -110;

  /** An event of a connection. */
  public ConnectionEvent(
      Type type,
      ConnectionIdentifier identifier,
      @Nullable ConnectionListener listener,
      int status,
      ByteBuffer privateData,
      int responderResources,
      int initiatorDepth) {
    this(type, identifier, listener, status, privateData, responderResources, initiatorDepth, null);
  }

  /** The same event of what stands for its identifier and its listener to a program. */
  public ConnectionEvent of(
      ConnectionIdentifier shown, @Nullable ConnectionListener shownListener) {
    return new ConnectionEvent(
        type,
        shown,
        shownListener,
        status,
        privateData,
        responderResources,
        initiatorDepth,
        datagramPeer);
  }

  /** Kinds of event; names as in {@code enum rdma_cm_event_type}. */
  public enum Type {
    ADDR_RESOLVED,
    ADDR_ERROR,
    ROUTE_RESOLVED,
    ROUTE_ERROR,
    CONNECT_REQUEST,
    CONNECT_RESPONSE,
    CONNECT_ERROR,
    UNREACHABLE,
    REJECTED,
    ESTABLISHED,
    DISCONNECTED,
    DEVICE_REMOVAL,
    ADDR_CHANGE,
    TIMEWAIT_EXIT
  }
}
