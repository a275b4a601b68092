// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.stat;

import java.util.List;
import java.util.Map;

/**
 * Shows the open queue pairs of a JVM, under the name {@code io.verbena:type=QueuePairs}. If
 * several class loaders have loaded Verbena, the names of the further beans have a number as {@code
 * id}.
 */
public interface QueuePairsMXBean {
  /** The name of the first bean; with {@code ,*} appended it is a pattern for all. */
  String NAME = "io.verbena:type=QueuePairs";

  /** The system property that is set, to {@link #NAME}, in a JVM that has such a bean. */
  String PROPERTY = "io.verbena.stat";

  /** Returns all open queue pairs as they are now, in no order. */
  List<View> getQueuePairs();

  /** One open queue pair. */
  interface View {

    /** Returns the name of the device. */
    String getDevice();

    /** See {@link io.verbena.verbs.QueuePairReading#number}. */
    int getNumber();

    /** See {@link io.verbena.verbs.QueuePairReading#peer}. */
    int getPeer();

    /** Returns the name of the {@link io.verbena.verbs.QueuePairType}. */
    String getType();

    /** Returns the name of the {@link io.verbena.verbs.QueuePairState}. */
    String getState();

    /**
     * Returns the kind of transport that uses the queue pair: {@code reactor}, {@code netty}; empty
     * if unknown.
     */
    String getUser();

    /** Returns the unused credits that the peer has given, by kind; empty without a transport. */
    Map<String, Integer> getCredits();

    /** Returns the figures, by the name of the {@link io.verbena.verbs.QueuePairReading.Figure}. */
    Map<String, Long> getFigures();
  }
}
