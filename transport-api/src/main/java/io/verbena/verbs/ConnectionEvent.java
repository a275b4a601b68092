// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * An event of a connection ({@code rdma_get_cm_event(3)}).
 *
 * @param type the kind of event
 * @param identifier the connection; for a {@link Type#CONNECT_REQUEST} a new one, which the
 *     receiver of the event accepts, rejects or closes
 * @param listener the listener that got the request, for a {@link Type#CONNECT_REQUEST}; else null
 * @param status 0, a negative {@code errno}, or a positive reason of {@link Type#REJECTED} or
 *     {@link Type#UNREACHABLE}
 * @param privateData the peer's private data, read-only; some providers pad it with zeros to the
 *     most that the message carries
 * @param responderResources READs and atomics that the peer serves at once
 * @param initiatorDepth READs and atomics that the peer has outstanding at once
 * @param datagramPeer the destination of datagrams, for {@link Type#ESTABLISHED} of an identifier
 *     of {@link PortSpace#UDP}; else null
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

  /** {@link #status} of a rejection without a listener ({@code IB_CM_REJ_INVALID_SERVICE_ID}). */
  public static final int REJECT_INVALID_SERVICE_ID = 8;

  /** {@link #status} of a rejection by the program ({@code IB_CM_REJ_CONSUMER_DEFINED}). */
  public static final int REJECT_CONSUMER_DEFINED = 28;

  /**
   * {@link #status} of a rejection on a locked wire: the keys of the two ends differ, or one end
   * has none. A number of Verbena's own; IBTA has no such reason.
   */
  public static final int REJECT_KEY = 0x8001;

  /**
   * {@link #status} of {@link Type#UNREACHABLE} when no server takes datagrams there ({@code
   * IB_SIDR_UNSUPPORTED}).
   */
  public static final int DATAGRAMS_UNSUPPORTED = 1;

  /**
   * {@link #status} of {@link Type#UNREACHABLE} when the server of the datagrams refuses ({@code
   * IB_SIDR_REJECT}).
   */
  public static final int DATAGRAMS_REJECTED = 2;

  /** {@link #status} when a step took longer than its deadline ({@code -ETIMEDOUT}). */
  public static final int TIMED_OUT = -110;

  /**
   * {@link #status} of {@link Type#UNREACHABLE} when the host of the address refuses packets to an
   * HCA, and so has none now ({@code -ECONNREFUSED}).
   */
  public static final int NO_HCA = -111;

  /** The error text for a peer that does not answer, whose only status is {@link #TIMED_OUT}. */
  public static final String NO_ANSWER =
      "no answer; is an HCA at that address, and does it listen?";

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

  /**
   * Returns the status in words, with its number: the reason of a rejection (IBTA volume 1, section
   * 12.6.7.2), the answer to a request for datagrams, or the error.
   */
  public String statusText() {
    String words =
        switch (type) {
          case REJECTED -> status < 0 ? errorText() : rejectionText();
          case UNREACHABLE ->
              status == NO_HCA
                  ? "no HCA is at that address, says its host; does the program there run?"
                  : status < 0 ? errorText() : datagramsText();
          default -> errorText();
        };
    return words + (status < 0 ? " (error " + -status : " (reason " + status) + ")";
  }

  private String rejectionText() {
    return switch (status) {
      case 1 -> "the peer has no queue pair left";
      case 3 -> "the peer has no resources left";
      case 4 -> "the peer's program took too long";
      case 5 -> "the peer does not support the request";
      case 6, 7, 30 -> "the peer knows no such connection";
      case REJECT_INVALID_SERVICE_ID -> "nobody listens there";
      case 9 -> "the peer does not take this kind of queue pair";
      case 10 -> "the peer still has an old connection of this queue pair";
      case 12, 13, 18, 19 -> "the address is not the peer's";
      case 14, 15, 16, 17, 32 -> "the peer does not take the service level or the traffic class";
      case 26 -> "the peer cannot take packets as large as this end's MTU";
      case 27 -> "the peer has not enough resources for READs and atomics";
      case REJECT_CONSUMER_DEFINED -> "the peer's program does not want it";
      case REJECT_KEY -> "the keys differ, or one end has none";
      default -> "rejected";
    };
  }

  private String datagramsText() {
    return switch (status) {
      case DATAGRAMS_UNSUPPORTED -> "nobody serves datagrams there";
      case DATAGRAMS_REJECTED -> "the peer's program does not want it";
      default -> "no answer";
    };
  }

  private String errorText() {
    return switch (status) {
      case -12, -105 -> "no memory or resources left";
      case -19 -> "no RDMA device for this address";
      case -22 -> "invalid";
      case -32, -104 -> "the peer has ended it";
      case -98 -> "the address is in use";
      case -99 -> "no such address on this machine";
      case -101, -113 -> "no way to that address";
      case TIMED_OUT -> NO_ANSWER;
      case -111 -> "nobody listens there";
      default -> "failed";
    };
  }

  /**
   * Returns this event with another identifier and listener, for example decorators of the original
   * ones.
   */
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
