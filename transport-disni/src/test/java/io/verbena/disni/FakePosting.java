// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/**
 * Counts of what reaches the driver of the fake rdma-core, and of what the driver takes for it by
 * itself.
 */
final class FakePosting {
  private FakePosting() {}

  /** Returns how often sends were posted to a queue pair of the fake, however many at once. */
  static long sendPosts(DisniQueuePair pair) {
    return sends(pair.pointer(), 0);
  }

  /** Returns how many sends were posted. */
  static long sends(DisniQueuePair pair) {
    return sends(pair.pointer(), 1);
  }

  /** Returns how many of them took their bytes along. */
  static long inlineSends(DisniQueuePair pair) {
    return sends(pair.pointer(), 2);
  }

  /** Returns how often receives were posted, however many at once. */
  static long receivePosts(DisniQueuePair pair) {
    return receives(pair.pointer(), 0);
  }

  /** Returns how many receives were posted. */
  static long receives(DisniQueuePair pair) {
    return receives(pair.pointer(), 1);
  }

  /** Returns how often receives were posted to a shared queue, however many at once. */
  static long receivePosts(DisniSharedReceiveQueue queue) {
    return sharedReceives(queue.pointer(), 0);
  }

  /** Returns how many receives were posted to it. */
  static long receives(DisniSharedReceiveQueue queue) {
    return sharedReceives(queue.pointer(), 1);
  }

  private static native long sends(long pair, int kind);

  private static native long receives(long pair, int kind);

  private static native long sharedReceives(long queue, int kind);

  /** A native call that does nothing. */
  static native int nothing(long pair);

  /**
   * Posts a chain of native requests so many times, without Java.
   *
   * @param linked whether all at once, or one by one
   * @return 0, or an errno
   */
  static native int drive(long pair, long chain, boolean receives, boolean linked, int times);
}
