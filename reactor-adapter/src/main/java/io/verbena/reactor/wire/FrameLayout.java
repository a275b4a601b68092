// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.wire;

/**
 * The layout of a frame, which is the payload of one SEND: a header, then records. Numbers are
 * big-endian.
 *
 * <pre>
 *  0      1        2         4        8          12           16
 *  | 0x56 | 0      | records | frames | messages | immediates | records ...
 * </pre>
 *
 * {@code frames}, {@code messages} and {@code immediates} are the sender's grants: how many of each
 * its peer may send in all, modulo 2<sup>32</sup>. They only grow; a frame may repeat the last
 * grant. Frames that were given back by a RETURN count as sent.
 */
public final class FrameLayout {
  /** The first byte of every frame. */
  public static final int TYPE = 0x56;

  /** The offset of the long that holds type, records and frames. */
  public static final int FIRST_OFFSET = 0;

  /** The offset of the long that holds messages and immediates. */
  public static final int SECOND_OFFSET = 8;

  public static final int HEADER_LENGTH = 16;

  private static final int TYPE_SHIFT = 48;
  private static final int RECORDS_SHIFT = 32;
  private static final long LOW_HALF = 0xffff_ffffL;

  /** The most records in a frame: an unsigned short. */
  public static final int MAX_RECORDS = 0xffff;

  /** The bytes that data leaves free, so that a DONE, a CLOSE and a RETURN always fit behind it. */
  public static final int CONTROL_RESERVE =
      RecordLayout.DONE_LENGTH + RecordLayout.CLOSE_LENGTH + RecordLayout.RETURN_LENGTH;

  /** The number of records that fit into {@link #CONTROL_RESERVE}. */
  public static final int CONTROL_RECORDS = 3;

  private FrameLayout() {}

  /** Returns the first long of a header. */
  public static long first(int records, int frames) {
    return ((long) TYPE << (TYPE_SHIFT + 8))
        | ((long) records << RECORDS_SHIFT)
        | (frames & LOW_HALF);
  }

  /** Returns the second long of a header. */
  public static long second(int messages, int immediates) {
    return ((long) messages << 32) | (immediates & LOW_HALF);
  }

  /** Returns whether a first long starts a frame of this protocol. */
  public static boolean isFrame(long first) {
    return first >>> TYPE_SHIFT == (long) TYPE << 8;
  }

  /** Returns the number of records in a first long. */
  public static int records(long first) {
    return (int) (first >>> RECORDS_SHIFT) & MAX_RECORDS;
  }

  /** Returns the grant of frames in a first long. */
  public static int frames(long first) {
    return (int) first;
  }

  /** Returns the grant of messages in a second long. */
  public static int messages(long second) {
    return (int) (second >>> 32);
  }

  /** Returns the grant of immediates in a second long. */
  public static int immediates(long second) {
    return (int) second;
  }

  /**
   * Returns the size in bytes of a frame that takes any message of up to {@code eagerSize} bytes.
   */
  public static int capacity(int eagerSize) {
    return dataLimit(eagerSize) + CONTROL_RESERVE;
  }

  /** Returns the bytes of a frame that header and messages may fill. */
  public static int dataLimit(int eagerSize) {
    return HEADER_LENGTH + RecordLayout.HEADER_LENGTH + RecordLayout.padded(eagerSize);
  }
}
