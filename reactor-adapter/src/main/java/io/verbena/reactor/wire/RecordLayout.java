// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.wire;

/**
 * The layout of a record in a frame. It starts with a long that holds its kind in the highest byte
 * and a length in the lower half; the next record starts at the next multiple of 8.
 *
 * <pre>
 *  0      1   4        8          12      16        24
 *  | kind | 0 | length | payload, padded to 8 ...                 MESSAGE
 *  | kind | 0 | length | id       | rkey  | address |             RENDEZVOUS
 *  | kind | 0 | 0      | id       | 0     |                       DONE
 *  | kind | 0 | stop   |                                          CLOSE
 *  | kind | 0 | length | value    | 0     |                       IMMEDIATE
 *  | kind | 0 | count  |                                          RETURN
 * </pre>
 */
public final class RecordLayout {
  /** A message. */
  public static final int MESSAGE = 1;

  /** A message that waits in the sender's memory for the receiver to READ it. */
  public static final int RENDEZVOUS = 2;

  /** The receiver has read all rendezvous up to this id. */
  public static final int DONE = 3;

  /** The sender sends no more messages. It may come twice, the second time to say {@link #STOP}. */
  public static final int CLOSE = 4;

  /** Immediate data of a WRITE that was done before this frame, for devices that have none. */
  public static final int IMMEDIATE = 5;

  /** The sender gives back credits of frames that it does not need now. */
  public static final int RETURN = 6;

  /**
   * The length of a CLOSE whose sender drops further messages, so that its peer should stop
   * sending. Ends that do not know STOP ignore the length of a CLOSE.
   */
  public static final int STOP = 1;

  public static final int HEADER_LENGTH = 8;
  public static final int ID_OFFSET = 8;
  public static final int KEY_OFFSET = 12;
  public static final int ADDRESS_OFFSET = 16;
  public static final int VALUE_OFFSET = 8;
  public static final int RENDEZVOUS_LENGTH = 24;
  public static final int DONE_LENGTH = 16;
  public static final int CLOSE_LENGTH = 8;
  public static final int IMMEDIATE_LENGTH = 16;
  public static final int RETURN_LENGTH = 8;

  private static final int KIND_SHIFT = 56;
  private static final long RESERVED = 0x00ff_ffff_0000_0000L;

  private RecordLayout() {}

  /** Returns the first long of a record. */
  public static long header(int kind, int length) {
    return ((long) kind << KIND_SHIFT) | length;
  }

  /** Returns the kind in a record's first long; 0, which is no kind, if reserved bits are set. */
  public static int kind(long header) {
    return (header & RESERVED) == 0 ? (int) (header >>> KIND_SHIFT) : 0;
  }

  /** Returns the length in a record's first long, which a peer may have made negative. */
  public static int length(long header) {
    return (int) header;
  }

  /** Returns {@code length}, rounded up to a multiple of 8. */
  public static int padded(int length) {
    return (length + 7) & ~7;
  }
}
