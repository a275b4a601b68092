// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.nio.ByteBuffer;

/**
 * The parameters that each end of a connection sends to the other ({@code struct rdma_conn_param}).
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

  /**
   * The most private data of a connect request, in bytes: the 92 of a REQ (IBTA volume 1, section
   * 12.6.5), less 36 for IP addresses (annex A11).
   */
  public static final int MAX_CONNECT_DATA = 56;

  /** The most private data of an accept, a REP (section 12.6.8), in bytes. */
  public static final int MAX_ACCEPT_DATA = 196;

  /** The most private data of a reject, a REJ (section 12.6.7), in bytes. */
  public static final int MAX_REJECT_DATA = 148;

  /**
   * The most private data of a request for datagrams, in bytes: the 216 of a SIDR_REQ (section
   * 12.11.1), less 36 for IP addresses.
   */
  public static final int MAX_DATAGRAM_CONNECT_DATA = 180;

  /** The most private data of an answer to that, a SIDR_REP (section 12.11.2), in bytes. */
  public static final int MAX_DATAGRAM_ACCEPT_DATA = 136;

  /**
   * Returns parameters with this private data, 16 READs each way, 7 retries, RNR retries for ever.
   */
  public static ConnectionParameters of(ByteBuffer privateData) {
    return new ConnectionParameters(privateData, 16, 16, 7, 7);
  }

  /**
   * Returns parameters without private data, with 16 READs each way, 7 retries, RNR retries for
   * ever.
   */
  public static ConnectionParameters defaults() {
    return of(ByteBuffer.allocate(0));
  }
}
