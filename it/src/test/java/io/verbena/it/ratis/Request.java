// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.ratis;

/**
 * A call on a register. Each returns the value that was there before it, so that a write that is
 * lost is missing in the answer to the next one.
 *
 * @param expected of a compare-and-set, which writes only where this is there
 * @param value what it writes; 0, which a register has at first, of a get
 */
record Request(Kind kind, int register, long expected, long value) {
  enum Kind {
    GET,
    PUT,
    COMPARE_AND_SET
  }

  static Request get(int register) {
    return new Request(Kind.GET, register, 0, 0);
  }

  static Request put(int register, long value) {
    return new Request(Kind.PUT, register, 0, value);
  }

  static Request compareAndSet(int register, long expected, long value) {
    return new Request(Kind.COMPARE_AND_SET, register, expected, value);
  }

  /** Returns what {@link #text} has written. */
  static Request parse(String text) {
    String[] words = text.split(" ", -1);
    return new Request(
        Kind.valueOf(words[0]),
        Integer.parseInt(words[1]),
        Long.parseLong(words[2]),
        Long.parseLong(words[3]));
  }

  String text() {
    return kind + " " + register + " " + expected + " " + value;
  }

  /** Returns the register's value after it, from the one before. */
  long after(long before) {
    return switch (kind) {
      case GET -> before;
      case PUT -> value;
      case COMPARE_AND_SET -> before == expected ? value : before;
    };
  }
}
