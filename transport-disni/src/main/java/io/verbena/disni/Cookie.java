// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/**
 * The {@code wr_id} that goes to the HCA in place of the program's work request id. It names a
 * queue and a slot of the queue. So a completion finds its queue without the queue pair number,
 * which some drivers do not set in error completions, and leftover completions of a closed or reset
 * queue are recognized by their old generation.
 *
 * <pre>
 *   63      44 43         33    32     31       0
 *   | index  | generation | receive | sequence |
 * </pre>
 */
final class Cookie {
  static final int INDEX_BITS = 20;
  static final int GENERATION_BITS = 11;
  private static final long RECEIVE = 1L << 32;

  private Cookie() {}

  /** Returns the tag of a queue: its index and generation, in 31 bits. */
  static int tag(int index, int generation) {
    return index << GENERATION_BITS | (generation & ((1 << GENERATION_BITS) - 1));
  }

  static int index(int tag) {
    return tag >>> GENERATION_BITS;
  }

  static long send(int tag, int sequence) {
    return (long) tag << 33 | (sequence & 0xffff_ffffL);
  }

  static long receive(int tag, int sequence) {
    return send(tag, sequence) | RECEIVE;
  }

  /** Returns the cookie of another request of the same queue. */
  static long at(long cookie, int sequence) {
    return (cookie & ~0xffff_ffffL) | (sequence & 0xffff_ffffL);
  }

  static boolean isOfSameQueue(long one, long other) {
    return at(one, 0) == at(other, 0);
  }

  static int tagOf(long cookie) {
    return (int) (cookie >>> 33);
  }

  static boolean isReceive(long cookie) {
    return (cookie & RECEIVE) != 0;
  }

  static int sequence(long cookie) {
    return (int) cookie;
  }
}
