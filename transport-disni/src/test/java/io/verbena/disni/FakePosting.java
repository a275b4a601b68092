// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/** Counts the posts that reach the driver of the fake rdma-core, and drives the driver alone. */
final class FakePosting {
  private FakePosting() {}

  /** Returns how many calls posted sends to a queue pair. */
  static long sendPosts(DisniQueuePair pair) {
    return sends(pair.pointer(), 0);
  }

  /** Returns how many sends were posted. */
  static long sends(DisniQueuePair pair) {
    return sends(pair.pointer(), 1);
  }

  /** Returns how many of the posted sends had inline data. */
  static long inlineSends(DisniQueuePair pair) {
    return sends(pair.pointer(), 2);
  }

  /** Returns how many calls posted receives to a queue pair. */
  static long receivePosts(DisniQueuePair pair) {
    return receives(pair.pointer(), 0);
  }

  /** Returns how many receives were posted. */
  static long receives(DisniQueuePair pair) {
    return receives(pair.pointer(), 1);
  }

  /** Returns how many calls posted receives to a shared receive queue. */
  static long receivePosts(DisniSharedReceiveQueue queue) {
    return sharedReceives(queue.pointer(), 0);
  }

  /** Returns how many receives were posted to a shared receive queue. */
  static long receives(DisniSharedReceiveQueue queue) {
    return sharedReceives(queue.pointer(), 1);
  }

  private static native long sends(long pair, int kind);

  private static native long receives(long pair, int kind);

  private static native long sharedReceives(long queue, int kind);

  /** Does nothing, to measure the cost of a native call. */
  static native int nothing(long pair);

  /**
   * Posts a chain of native requests {@code times} times in native code.
   *
   * @param linked whether to post the chain by one call, or request by request
   * @return 0, or an errno
   */
  static native int drive(long pair, long chain, boolean receives, boolean linked, int times);
}
