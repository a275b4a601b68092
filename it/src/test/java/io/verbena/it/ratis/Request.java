// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.ratis;

/**
 * A call on a register. Each call returns the previous value, so that the answer to the next call
 * shows whether a write was lost.
 *
 * @param expected the value that a compare-and-set needs in order to write
 * @param value the value to write; for a get 0, the initial value of a register
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

  /** Parses the result of {@link #text}. */
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

  /** Returns the register's value after this call, from the value before. */
  long after(long before) {
    return switch (kind) {
      case GET -> before;
      case PUT -> value;
      case COMPARE_AND_SET -> before == expected ? value : before;
    };
  }
}
