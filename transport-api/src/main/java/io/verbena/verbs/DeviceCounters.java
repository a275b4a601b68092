// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.util.Set;

/**
 * The counters of a device ({@code rdma statistic}, the kernel's {@code hw_counters}). The counts
 * include other programs that use the device. Two opened devices that share their counts return the
 * same object. Thread-safe.
 */
public interface DeviceCounters {

  /** The counters that a device may have; in parentheses the kernel's names for rxe and mlx5. */
  enum Counter {
    /**
     * Messages from peers that found no receive here ({@code send_rnr_err}, {@code out_of_buffer}).
     */
    RNR_SENT,
    /**
     * Messages that found no receive at a peer ({@code rcvd_rnr_err}, {@code rnr_nak_retry_err}).
     */
    RNR_RECEIVED,
    /**
     * Retransmissions, each from the oldest unanswered packet on, after a timeout or a sequence
     * error ({@code completer_retry_err}; {@code local_ack_timeout_err}, {@code packet_seq_err} and
     * {@code implied_nak_seq_err} together).
     */
    RETRANSMISSIONS,
    /**
     * Requests that arrived behind a gap in the PSNs ({@code out_of_seq_request}, {@code
     * out_of_sequence}).
     */
    OUT_OF_SEQUENCE,
    /** Requests that arrived a second time ({@code duplicate_request}, both). */
    DUPLICATES
  }

  /** The counters of a device that has none. */
  DeviceCounters NONE =
      new DeviceCounters() {
        @Override
        public Set<Counter> counted() {
          return Set.of();
        }

        @Override
        public long get(Counter counter) {
          throw new VerbsException(VerbsError.NOT_SUPPORTED, "device counter " + counter);
        }
      };

  /** Returns the counters that this device has; never changes. */
  Set<Counter> counted();

  /**
   * Returns the present count. It only grows; it need not be 0 when the device is opened.
   *
   * @throws VerbsException {@code NOT_SUPPORTED} for a counter that is not {@link #counted}, {@code
   *     IO} if the device no longer answers
   */
  long get(Counter counter);
}
