// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.stat;

import java.util.List;
import java.util.Map;

/**
 * The open queue pairs of a JVM, under the name {@code io.verbena:type=QueuePairs}. Where Verbena
 * is loaded more than once, by several class loaders, the others have a number as {@code id}.
 */
public interface QueuePairsMXBean {
  /** The name of the first; {@code ,*} behind it finds them all. */
  String NAME = "io.verbena:type=QueuePairs";

  /** The system property that is set, to {@link #NAME}, in a JVM that has such a bean. */
  String PROPERTY = "io.verbena.stat";

  /** Returns all of them as they are now, in no order. */
  List<View> getQueuePairs();

  /** One open queue pair. */
  interface View {

    /** Returns the name of its device. */
    String getDevice();

    /** See {@link io.verbena.verbs.QueuePairReading#number}. */
    int getNumber();

    /** See {@link io.verbena.verbs.QueuePairReading#peer}. */
    int getPeer();

    /** Returns the name of its {@link io.verbena.verbs.QueuePairType}. */
    String getType();

    /** Returns the name of its {@link io.verbena.verbs.QueuePairState}. */
    String getState();

    /**
     * Returns the kind of transport that uses it: {@code reactor}, {@code netty}; empty if none
     * says so.
     */
    String getUser();

    /** Returns the peer's credits that are not used, by kind; empty without a transport. */
    Map<String, Integer> getCredits();

    /** By the name of the {@link io.verbena.verbs.QueuePairReading.Figure}. */
    Map<String, Long> getFigures();
  }
}
