// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * A space of port numbers of connection managers; names and numbers as in {@code enum
 * rdma_port_space}. The same number in two port spaces names two services.
 */
public enum PortSpace {
  /** Connections, of queue pairs of type {@link QueuePairType#RC}. */
  TCP(0x0106, QueuePairType.RC),
  /**
   * Datagrams: the answer to a request names the queue pair of type {@link QueuePairType#UD} that
   * serves a port (service ID resolution, SIDR: IBTA volume 1, section 12.11). No connection is
   * made.
   */
  UDP(0x0111, QueuePairType.UD);

  private final int code;
  private final QueuePairType type;

  PortSpace(int code, QueuePairType type) {
    this.code = code;
    this.type = type;
  }

  /** Returns the number in {@code enum rdma_port_space}. */
  public int code() {
    return code;
  }

  /** Returns the type of the queue pairs of its identifiers. */
  public QueuePairType type() {
    return type;
  }
}
