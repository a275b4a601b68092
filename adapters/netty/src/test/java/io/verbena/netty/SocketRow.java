// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

/**
 * A question that each medium answers.
 *
 * @param subject the group of the row
 * @param name the action and the question
 * @param probe returns the answer
 */
record SocketRow(String subject, String name, Probe probe) {
  /** Finds the answer, on loops that other rows use, too. */
  interface Probe {
    /** Returns the answer in one word or a few. */
    String ask(SocketWorld world) throws Exception;
  }

  /** Returns the name of this row in {@link SocketDifference}. */
  String key() {
    return subject + ": " + name;
  }
}
