// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import static java.util.Objects.requireNonNull;

import io.verbena.verbs.DeviceCounters.Counter;
import java.util.Map;

/**
 * A snapshot of the state and figures of a queue pair. It is taken while the queue pair works, so
 * two figures may differ by a few requests.
 *
 * @param number the queue pair number
 * @param type the transport service
 * @param state the state
 * @param peer the number of the peer's queue pair, or -1 if not connected
 * @param figures the figures that the provider knows; others are absent
 */
public record QueuePairReading(
    int number, QueuePairType type, QueuePairState state, int peer, Map<Figure, Long> figures) {

  public QueuePairReading {
    requireNonNull(type, "type");
    requireNonNull(state, "state");
    figures = Map.copyOf(figures);
  }

  /**
   * The figures that a reading may hold. Counts start at the creation of the queue pair and only
   * grow.
   */
  public enum Figure {
    /** Requests that were posted to the send queue. */
    SENDS_POSTED,
    /**
     * Posted requests that no longer hold a slot: their own or a later completion was polled, or a
     * reset dropped them.
     */
    SENDS_DONE,
    /** The number of slots of the send queue. */
    SEND_QUEUE_SIZE,
    /** Receives that were posted to the queue pair's own receive queue. */
    RECEIVES_POSTED,
    /**
     * As {@link #SENDS_DONE}, for receives; with a shared receive queue those that completed on
     * this queue pair.
     */
    RECEIVES_DONE,
    /** The number of slots of the queue pair's own receive queue. */
    RECEIVE_QUEUE_SIZE,
    /** Completions of all queue pairs that wait in the completion queue of the sends. */
    SEND_COMPLETIONS_WAITING,
    /** The depth of that queue. */
    SEND_COMPLETIONS_SIZE,
    /** Completions of all queue pairs that wait in the completion queue of the receives. */
    RECEIVE_COMPLETIONS_WAITING,
    /** The depth of that queue. */
    RECEIVE_COMPLETIONS_SIZE,
    /** This queue pair's part of {@link Counter#RNR_SENT}. */
    RNR_SENT,
    /** This queue pair's part of {@link Counter#RNR_RECEIVED}. */
    RNR_RECEIVED,
    /** This queue pair's part of {@link Counter#RETRANSMISSIONS}. */
    RETRANSMISSIONS,
    /** This queue pair's part of {@link Counter#OUT_OF_SEQUENCE}. */
    OUT_OF_SEQUENCE,
    /** This queue pair's part of {@link Counter#DUPLICATES}. */
    DUPLICATES;

    /** Returns the figure that is one queue pair's part of this device counter. */
    public static Figure of(Counter counter) {
      return switch (counter) {
        case RNR_SENT -> RNR_SENT;
        case RNR_RECEIVED -> RNR_RECEIVED;
        case RETRANSMISSIONS -> RETRANSMISSIONS;
        case OUT_OF_SEQUENCE -> OUT_OF_SEQUENCE;
        case DUPLICATES -> DUPLICATES;
      };
    }
  }
}
