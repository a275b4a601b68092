// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

/**
 * Memory of the passive end, {@link Job#BLOCK} bytes.
 *
 * @param address the address of the first byte
 * @param key the rkey
 */
record RemoteBlock(long address, int key) {

  /** Returns the text from which the other process decodes this block. */
  String encode() {
    return address + " " + key;
  }

  static RemoteBlock decode(String text) {
    int space = text.indexOf(' ');
    if (space < 0) {
      throw new IllegalArgumentException("target: " + text + " (expected: ADDRESS KEY)");
    }
    return new RemoteBlock(
        Long.parseLong(text.substring(0, space)), Integer.parseInt(text.substring(space + 1)));
  }
}
