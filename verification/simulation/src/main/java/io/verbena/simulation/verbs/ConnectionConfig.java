// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;

/**
 * The attributes of one connection of a simulated program.
 *
 * @param type the transport service
 * @param first the device of endpoint 0
 * @param second the device of endpoint 1
 * @param mtu bytes of payload per packet
 * @param timeout code of the acknowledgement timeout
 * @param retryCount the retry count
 * @param rnrRetry the RNR retry count; 7 means without limit
 * @param rnrTimer code of the RNR timer
 * @param psn0 the first PSN of endpoint 0
 * @param psn1 the first PSN of endpoint 1
 * @param reads maximum number of outstanding READs and atomics
 * @param sends capacity of each send queue
 * @param signalAll whether all requests are signaled
 * @param crc on a stream, whether segments have CRCs
 * @param extensions on a stream, whether both ends have atomics and immediate data (RFC 7306)
 * @param locked on a stream, whether its bytes are sealed
 */
record ConnectionConfig(
    QueuePairType type,
    int first,
    int second,
    Mtu mtu,
    int timeout,
    int retryCount,
    int rnrRetry,
    int rnrTimer,
    int psn0,
    int psn1,
    int reads,
    int sends,
    boolean signalAll,
    boolean crc,
    boolean extensions,
    boolean locked) {

  int device(int side) {
    return side == 0 ? first : second;
  }

  int psn(int side) {
    return side == 0 ? psn0 : psn1;
  }

  /** The number of packets of a message on an unreliable transport. */
  int packets(int length) {
    return type == QueuePairType.UD ? 1 : Math.max(1, (length + mtu.bytes() - 1) / mtu.bytes());
  }

  /** The acknowledgement timeout in nanoseconds (IBTA volume 1, local ACK timeout). */
  long timeoutNanos() {
    return 4096L << timeout;
  }

  @Override
  public String toString() {
    return type
        + ", device "
        + first
        + " <-> device "
        + second
        + ", "
        + mtu
        + ", timeout "
        + timeoutNanos()
        + " ns x "
        + (retryCount + 1)
        + ", rnr "
        + rnrRetry
        + " timer "
        + rnrTimer
        + ", PSNs "
        + Integer.toHexString(psn0)
        + " "
        + Integer.toHexString(psn1)
        + ", reads "
        + reads
        + ", sends "
        + sends
        + (signalAll ? ", signal all" : "")
        + (crc ? ", crc" : "")
        + (extensions ? ", extensions" : "")
        + (locked ? ", locked" : "");
  }
}
