// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.nio.ByteBuffer;

/**
 * What the two ends of a connection tell each other ({@code struct rdma_conn_param}).
 *
 * @param privateData bytes for the peer, from position to limit; copied
 * @param responderResources READs and atomics that this end serves at once
 * @param initiatorDepth READs and atomics that this end has outstanding at once
 * @param retryCount retries after a timeout, 0 to 7
 * @param rnrRetryCount retries after an RNR NAK, 0 to 6; 7 for ever
 */
public record ConnectionParameters(
    ByteBuffer privateData,
    int responderResources,
    int initiatorDepth,
    int retryCount,
    int rnrRetryCount) {

  /** The most private data that a connect request carries with {@code RDMA_PS_TCP}, in bytes. */
  public static final int MAX_CONNECT_DATA = 56;

  /** The most private data that an accept carries, in bytes. */
  public static final int MAX_ACCEPT_DATA = 196;

  /** The most private data that a reject carries, in bytes. */
  public static final int MAX_REJECT_DATA = 148;

  /** The most private data that a request for datagrams carries, in bytes. */
  public static final int MAX_DATAGRAM_CONNECT_DATA = 180;

  /** The most private data that the answer to it carries, whatever it is, in bytes. */
  public static final int MAX_DATAGRAM_ACCEPT_DATA = 136;

  /** This private data, 16 READs each way, 7 retries, RNR for ever. */
  public static ConnectionParameters of(ByteBuffer privateData) {
    return new ConnectionParameters(privateData, 16, 16, 7, 7);
  }

  /** No private data, 16 READs each way, 7 retries, RNR for ever. */
  public static ConnectionParameters defaults() {
    return of(ByteBuffer.allocate(0));
  }
}
