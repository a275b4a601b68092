// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

/**
 * The syndrome of an {@link ExtendedHeader#AETH}: 8 bits. The high three are the kind of answer,
 * the low five its value (IBTA volume 1, ACK extended transport header).
 */
public final class Aeth {
  /** The credits of an ACK whose sender does not count credits. */
  public static final int UNLIMITED_CREDITS = 31;

  /** The largest RNR timer code and the largest credit code. */
  public static final int MAX_VALUE = 31;

  /** NAK: a packet is missing; the PSN of the NAK is the expected one. */
  public static final int SEQUENCE_ERROR = 0x60;

  /** NAK: the request is malformed, or the queue pair does not allow it. */
  public static final int INVALID_REQUEST = 0x61;

  /** NAK: the key, the range, the domain or the rights are wrong. */
  public static final int REMOTE_ACCESS_ERROR = 0x62;

  /** NAK: the responder itself failed. */
  public static final int REMOTE_OPERATION_ERROR = 0x63;

  private static final int TYPE_MASK = 0xe0;
  private static final int ACK = 0x00;
  private static final int RNR_NAK = 0x20;

  private Aeth() {}

  /**
   * Returns the syndrome of an ACK.
   *
   * @param credits the encoded credit count, 0 to 31; {@link #UNLIMITED_CREDITS} if the sender does
   *     not count credits
   * @throws IllegalArgumentException if {@code credits} is out of this range
   */
  public static int ack(int credits) {
    return ACK | checked(credits, "credits");
  }

  /**
   * Returns the syndrome of a receiver-not-ready NAK.
   *
   * @param timer the code of the time to wait, 0 to 31; see {@link RnrTimer}
   * @throws IllegalArgumentException if {@code timer} is out of this range
   */
  public static int rnrNak(int timer) {
    return RNR_NAK | checked(timer, "timer");
  }

  public static boolean isAck(int syndrome) {
    return (syndrome & TYPE_MASK) == ACK;
  }

  public static boolean isRnrNak(int syndrome) {
    return (syndrome & TYPE_MASK) == RNR_NAK;
  }

  /** Returns whether a syndrome is one of the four NAKs; other codes of that type are reserved. */
  public static boolean isNak(int syndrome) {
    return syndrome >= SEQUENCE_ERROR && syndrome <= REMOTE_OPERATION_ERROR;
  }

  /** Returns the credits of an ACK, or the timer code of an RNR NAK. */
  public static int value(int syndrome) {
    return syndrome & MAX_VALUE;
  }

  private static int checked(int value, String name) {
    if (value < 0 || value > MAX_VALUE) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: 0 to " + MAX_VALUE + ")");
    }
    return value;
  }
}
