// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

/**
 * A question to a medium.
 *
 * @param subject what it belongs to
 * @param name what is done, and what is asked
 * @param probe answers it
 */
record SocketRow(String subject, String name, Probe probe) {
  /** Asks, on loops that other rows use too. */
  interface Probe {
    /** Returns the answer, in a word or few. */
    String ask(SocketWorld world) throws Exception;
  }

  /** The row of this name, for {@link SocketDifference}. */
  String key() {
    return subject + ": " + name;
  }
}
