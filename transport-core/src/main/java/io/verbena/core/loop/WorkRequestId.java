// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

/**
 * The layout of a work request id, by which a completion finds its member without a map:
 *
 * <pre>
 *  63        44 43         34   33        32      31        0
 *  | index     | generation   | receive | unused | sequence |
 * </pre>
 *
 * The generation distinguishes members that had the same index one after the other.
 */
public final class WorkRequestId {
  static final int MAX_MEMBERS = 1 << 20;

  private static final int INDEX_SHIFT = 44;
  private static final int OWNER_SHIFT = 34;
  private static final int GENERATIONS = 1 << (INDEX_SHIFT - OWNER_SHIFT);
  private static final long RECEIVE = 1L << 33;
  private static final long SEQUENCE_MASK = 0xffff_ffffL;

  private WorkRequestId() {}

  static long prefix(int index, int generation) {
    return ((long) index << INDEX_SHIFT) | ((long) (generation & (GENERATIONS - 1)) << OWNER_SHIFT);
  }

  static int index(long id) {
    return (int) (id >>> INDEX_SHIFT);
  }

  static boolean hasPrefix(long id, long prefix) {
    return (id ^ prefix) >>> OWNER_SHIFT == 0;
  }

  /** Returns the id of a send request. */
  public static long send(long prefix, int sequence) {
    return prefix | (sequence & SEQUENCE_MASK);
  }

  /** Returns the id of a receive. */
  public static long receive(long prefix, int sequence) {
    return prefix | RECEIVE | (sequence & SEQUENCE_MASK);
  }

  /** Returns whether the id is that of a receive. */
  public static boolean isReceive(long id) {
    return (id & RECEIVE) != 0;
  }

  /** Returns the sequence number within the member's send or receive queue. */
  public static int sequence(long id) {
    return (int) id;
  }
}
