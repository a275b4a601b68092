// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.verbena.RdmaOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The settings of a scenario for its whole run.
 *
 * @param maxSends the most sends of an end that are active at once
 * @param patient whether both ends wait until all is done before they close
 */
record Settings(
    int eagerSize,
    int receiveDepth,
    int sendDepth,
    int window,
    int readAhead,
    int maxOperations,
    long maxRegisteredBytes,
    long keepAliveMillis,
    int maxSends,
    boolean patient) {

  static final Duration OPERATION_TIMEOUT = Duration.ofSeconds(4);
  static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);

  /** A limit of registered memory in bytes that no scenario reaches. */
  private static final long ENOUGH_MEMORY = 1 << 22;

  private static final long LEAST_MEMORY = 1 << 17;

  /** The most receives that a connection promises at all times, as in its ConnectionContext. */
  private static final int FIRST_RECEIVES = 8;

  /** No frame is longer than a message of one frame and this many bytes. */
  private static final int MOST_HEADERS = 64;

  private static final int LEAST_KEEP_ALIVE = 50;
  private static final int MOST_KEEP_ALIVE = 2000;

  static Settings random(SplittableRandom random) {
    return new Settings(
        // Some eager sizes are larger than the MTU, so that frames take several packets.
        64 + random.nextInt(random.nextInt(3) == 0 ? 8000 : 960),
        4 + random.nextInt(12),
        4 + random.nextInt(12),
        1 + random.nextInt(20),
        random.nextInt(1 << 14),
        1 + random.nextInt(64),
        random.nextInt(3) > 0
            ? ENOUGH_MEMORY
            : LEAST_MEMORY + random.nextLong(ENOUGH_MEMORY - LEAST_MEMORY),
        random.nextInt(3) > 0
            ? 0
            : LEAST_KEEP_ALIVE + random.nextInt(MOST_KEEP_ALIVE - LEAST_KEEP_ALIVE),
        1 + random.nextInt(2),
        random.nextInt(3) > 0);
  }

  /** Returns the options of both transports. */
  RdmaOptions options() {
    return RdmaOptions.builder()
        .loops(1)
        .eagerSize(eagerSize)
        .receiveDepth(receiveDepth)
        .sendDepth(sendDepth)
        .window(window)
        .maxMessageSize(1 << 17)
        .readAhead(readAhead)
        .maxOperations(maxOperations)
        .maxRegisteredBytes(maxRegisteredBytes)
        .connectTimeout(Duration.ofSeconds(30))
        .operationTimeout(OPERATION_TIMEOUT)
        .closeTimeout(CLOSE_TIMEOUT)
        .keepAlive(Duration.ofMillis(keepAliveMillis))
        .build();
  }

  /** Returns whether the limit of registered memory may be reached. */
  boolean hasLowCeiling() {
    return maxRegisteredBytes < ENOUGH_MEMORY;
  }

  /**
   * Returns whether a loop may promise its peers more receives than it posts, because the limit of
   * registered memory leaves it so few: then a message may have to wait for a loop that is held up.
   */
  boolean promisesMoreThanItPosts(int connections) {
    int first = Math.min(FIRST_RECEIVES, receiveDepth);
    // A pool takes a quarter of the limit, and at least what two connections are promised. It keeps
    // half of that for what is promised at all times.
    long most = Math.max(maxRegisteredBytes / 4 / (eagerSize + MOST_HEADERS), 2L * first);
    return most / 2 < (long) connections * first;
  }

  /** Returns variants of these settings with one unusual value replaced by the usual one. */
  List<Settings> simpler() {
    List<Settings> all = new ArrayList<>();
    if (hasLowCeiling()) {
      all.add(with(ENOUGH_MEMORY, keepAliveMillis, maxSends));
    }
    if (keepAliveMillis > 0) {
      all.add(with(maxRegisteredBytes, 0, maxSends));
    }
    if (maxSends > 1) {
      all.add(with(maxRegisteredBytes, keepAliveMillis, 1));
    }
    return all;
  }

  private Settings with(long newCeiling, long newKeepAlive, int newMaxSends) {
    return new Settings(
        eagerSize,
        receiveDepth,
        sendDepth,
        window,
        readAhead,
        maxOperations,
        newCeiling,
        newKeepAlive,
        newMaxSends,
        patient);
  }
}
