// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

/**
 * The 32 bits that each message carries beside its bytes: as immediate data, or after the bytes
 * ({@link ControlTrailers}):
 *
 * <pre>
 *  31       18   17     16    15       0
 *  | unused   | back | end  | credits  |
 * </pre>
 *
 * <p>The credits allow the receiver so many further messages; with {@code back} they are credits of
 * the sender that it returns unused.
 */
final class ControlWord {
  /** The most credits that one message returns. */
  static final int MOST_CREDITS = 0xffff;

  /** The control word of no message of this protocol. */
  static final int NONE = -1;

  private static final int END = 1 << 16;
  private static final int BACK = 1 << 17;

  private ControlWord() {}

  /** Returns the control word of credits that the sender returns unused. */
  static int back(int credits) {
    return credits | BACK;
  }

  /** Returns the control word with the end of the sender's bytes. */
  static int end(int control) {
    return control | END;
  }

  static int credits(int control) {
    return control & MOST_CREDITS;
  }

  /** Returns whether the credits are returned unused. */
  static boolean isBack(int control) {
    return (control & BACK) != 0;
  }

  /** Returns whether the sender sends no more bytes. */
  static boolean isEnd(int control) {
    return (control & END) != 0;
  }

  /** Returns whether all bits that are set have a meaning. */
  static boolean isKnown(int control) {
    return control >>> 18 == 0;
  }
}
