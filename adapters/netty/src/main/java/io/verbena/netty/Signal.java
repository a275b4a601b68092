// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

/**
 * The signal that each message carries beside its bytes, as immediate data, or behind them ({@link
 * SignalTrailers}):
 *
 * <pre>
 *  31       18   17     16    15       0
 *  | unused   | back | end  | credits  |
 * </pre>
 *
 * <p>Credits are for so many further messages of the receiver; with {@code back} they are those
 * that the sender had and does not use.
 */
final class Signal {
  /** The most credits that one message returns. */
  static final int MOST_CREDITS = 0xffff;

  /** Of no message of this protocol. */
  static final int NONE = -1;

  private static final int END = 1 << 16;
  private static final int BACK = 1 << 17;

  private Signal() {}

  /** Of credits that the sender gives back. */
  static int back(int credits) {
    return credits | BACK;
  }

  /** Adds that the sender sends no more bytes. */
  static int end(int signal) {
    return signal | END;
  }

  static int credits(int signal) {
    return signal & MOST_CREDITS;
  }

  /** Returns whether the credits are given back. */
  static boolean isBack(int signal) {
    return (signal & BACK) != 0;
  }

  /** Returns whether the sender sends no more bytes. */
  static boolean isEnd(int signal) {
    return (signal & END) != 0;
  }

  /** Returns whether all bits have a meaning. */
  static boolean isKnown(int signal) {
    return signal >>> 18 == 0;
  }
}
