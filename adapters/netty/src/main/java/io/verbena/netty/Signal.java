// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

/**
 * What each message carries beside its bytes, as immediate data, or behind them ({@link
 * SignalTrailers}):
 *
 * <pre>
 *  31       18   17     16    15       0
 *  | unused   | long | end  | credits  |
 * </pre>
 */
final class Signal {
  /** The most credits that one message returns. */
  static final int MOST_CREDITS = 0xffff;

  /** Of no message of this protocol. */
  static final int NONE = -1;

  private static final int END = 1 << 16;
  private static final int LONG = 1 << 17;

  private Signal() {}

  /**
   * @param areLong whether the credits are for long receives
   */
  static int of(int credits, boolean areLong) {
    return areLong ? credits | LONG : credits;
  }

  /** Adds that the sender sends no more bytes. */
  static int end(int signal) {
    return signal | END;
  }

  static int credits(int signal) {
    return signal & MOST_CREDITS;
  }

  /**
   * Whether the credits are for receives of the sender's {@link
   * io.verbena.netty.wire.Handshake#piece}, not short ones.
   */
  static boolean areLong(int signal) {
    return (signal & LONG) != 0;
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
