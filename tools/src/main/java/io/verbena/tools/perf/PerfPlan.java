// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The plan of a test, the same for both ends.
 *
 * @param verb the measured verb
 * @param measure the measured figure
 * @param type of the queue pairs
 * @param atomic which atomic
 * @param all whether all sizes from 2 on are measured
 * @param size bytes of a message; with {@code all}, of the largest
 * @param iterations how many of each size on each queue pair; 0 to go by time
 * @param duration how long each size takes, without iterations
 * @param pairs queue pairs
 * @param both whether both ends post
 * @param events whether to sleep until something completes
 * @param managed the server's address with the connection manager; null without it
 * @param txDepth sends under way at once, on each queue pair
 * @param rxDepth receives posted, on each queue pair
 * @param cqModeration the number of sends for each completion
 * @param outstanding READs and atomics under way at once; null for as many as the device has
 * @param inline the most bytes to send inline
 * @param mtu payload of a packet; null for the port's
 * @param gid the index of the GID to send from, or null
 * @param timeout code of the time to wait for an acknowledgement
 * @param peak whether to look for the best bandwidth between two messages
 * @param limit the longest time without a message or completion
 */
record PerfPlan(
    Verb verb,
    Measure measure,
    QueuePairType type,
    AtomicType atomic,
    boolean all,
    int size,
    int iterations,
    Duration duration,
    int pairs,
    boolean both,
    boolean events,
    @Nullable URI managed,
    int txDepth,
    int rxDepth,
    int cqModeration,
    @Nullable Integer outstanding,
    int inline,
    @Nullable Mtu mtu,
    @Nullable Integer gid,
    int timeout,
    boolean peak,
    Duration limit) {

  private static final int SMALLEST = 2;

  /** The first size. */
  int firstSize() {
    return all ? SMALLEST : size;
  }

  /** Returns whether it ends after a time and not after a number of messages. */
  boolean isTimed() {
    return iterations == 0;
  }

  /** Messages of each size, of all queue pairs. */
  long total() {
    return (long) iterations * pairs;
  }

  String title() {
    return verb.title() + (both ? " Bidirectional " : " ") + measure.title() + " Test";
  }
}
