// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import static java.util.Objects.requireNonNull;

import io.verbena.verbs.DeviceCounters.Counter;
import java.util.Map;

/**
 * A snapshot of the state and figures of a queue pair. It is taken while the queue pair works, so
 * two figures may be a few requests apart.
 *
 * @param number its number
 * @param type its transport service
 * @param state the state that it is in
 * @param peer the number of the queue pair that it is connected to, or -1
 * @param figures what its provider knows of it; what it does not know is not there
 */
public record QueuePairReading(
    int number, QueuePairType type, QueuePairState state, int peer, Map<Figure, Long> figures) {

  public QueuePairReading {
    requireNonNull(type, "type");
    requireNonNull(state, "state");
    figures = Map.copyOf(figures);
  }

  /**
   * The figures that a reading may hold. Counts begin when the queue pair is made, and only grow.
   */
  public enum Figure {
    /** Requests that were posted to its send queue. */
    SENDS_POSTED,
    /**
     * Those of them that hold no slot any more: the completion of it or of a later one was polled,
     * or a reset dropped it.
     */
    SENDS_DONE,
    /** The number of slots of the send queue. */
    SEND_QUEUE_SIZE,
    /** Receives that were posted to its own receive queue. */
    RECEIVES_POSTED,
    /** As {@link #SENDS_DONE}; of a shared receive queue those that came to this queue pair. */
    RECEIVES_DONE,
    /** The number of slots of its own receive queue. */
    RECEIVE_QUEUE_SIZE,
    /** Completions, of whichever queue pair, that wait in the completion queue of its sends. */
    SEND_COMPLETIONS_WAITING,
    /** The depth of that queue. */
    SEND_COMPLETIONS_SIZE,
    /** Likewise in that of its receives, which may be the same. */
    RECEIVE_COMPLETIONS_WAITING,
    /** The depth of that queue. */
    RECEIVE_COMPLETIONS_SIZE,
    /** This queue pair's part of the device's count, and so are those below. */
    RNR_SENT,
    /** See {@link Counter#RNR_RECEIVED}. */
    RNR_RECEIVED,
    /** See {@link Counter#RETRANSMISSIONS}. */
    RETRANSMISSIONS,
    /** See {@link Counter#OUT_OF_SEQUENCE}. */
    OUT_OF_SEQUENCE,
    /** See {@link Counter#DUPLICATES}. */
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
