// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * The destination of datagrams for a service ({@code struct rdma_ud_param}).
 *
 * @param vector the path to the peer, for an address handle
 * @param queuePair the number of the queue pair that serves datagrams
 * @param queueKey the queue key that datagrams must carry
 */
public record DatagramPeer(AddressVector vector, int queuePair, int queueKey) {

  /** The key of queue pairs that a connection manager makes ({@code RDMA_UDP_QKEY}). */
  public static final int QUEUE_KEY = 0x0123_4567;
}
