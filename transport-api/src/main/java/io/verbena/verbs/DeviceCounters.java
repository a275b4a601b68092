// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.util.Set;

/**
 * The counters of a device ({@code rdma statistic}, the kernel's {@code hw_counters}). A device
 * counts for all who use it, so for other programs too; where two opened devices are one device
 * that counts once, both return the same object. Thread-safe.
 */
public interface DeviceCounters {

  /** The counters that a device may have; the kernel's names in parentheses: rxe's, mlx5's. */
  enum Counter {
    /** Messages of peers that found no receive ({@code send_rnr_err}, {@code out_of_buffer}). */
    RNR_SENT,
    /**
     * Messages that found no receive at a peer ({@code rcvd_rnr_err}, {@code rnr_nak_retry_err}).
     */
    RNR_RECEIVED,
    /**
     * The number of times that packets were sent again, beginning with the oldest unanswered one,
     * after a timeout or a sequence error ({@code completer_retry_err}; {@code
     * local_ack_timeout_err}, {@code packet_seq_err} and {@code implied_nak_seq_err} together).
     */
    RETRANSMISSIONS,
    /** Requests behind a gap ({@code out_of_seq_request}, {@code out_of_sequence}). */
    OUT_OF_SEQUENCE,
    /** Requests that had come before ({@code duplicate_request}, both). */
    DUPLICATES
  }

  /** A device that counts nothing. */
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

  /** Returns what this device counts; never changes. */
  Set<Counter> counted();

  /**
   * Returns the present count, which only grows, from wherever it was when the device was opened.
   *
   * @throws VerbsException {@code NOT_SUPPORTED} for what is not {@link #counted}, {@code IO} if
   *     the device cannot be asked any more
   */
  long get(Counter counter);
}
