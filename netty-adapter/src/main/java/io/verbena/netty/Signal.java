package io.verbena.netty;

/**
 * What the immediate data of each message says besides its bytes:
 *
 * <pre>
 *  31       17   16    15       0
 *  | unused   | end  | credits  |
 * </pre>
 */
final class Signal {
  /** The most credits that one message returns. */
  static final int MOST_CREDITS = 0xffff;

  private static final int END = 1 << 16;

  private Signal() {}

  static int of(int credits, boolean end) {
    return end ? credits | END : credits;
  }

  static int credits(int immediate) {
    return immediate & MOST_CREDITS;
  }

  /** Whether the sender sends no more bytes. */
  static boolean isEnd(int immediate) {
    return (immediate & END) != 0;
  }

  /** Whether all bits have a meaning. */
  static boolean isKnown(int immediate) {
    return immediate >>> 17 == 0;
  }
}
