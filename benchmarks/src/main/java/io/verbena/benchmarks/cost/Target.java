package io.verbena.benchmarks.cost;

/**
 * Memory of the passive end, {@link Job#BLOCK} bytes.
 *
 * @param address of the first byte
 * @param key the rkey
 */
record Target(long address, int key) {

  /** As it travels between the two processes. */
  String encode() {
    return address + " " + key;
  }

  static Target decode(String text) {
    int space = text.indexOf(' ');
    if (space < 0) {
      throw new IllegalArgumentException("target: " + text + " (expected: ADDRESS KEY)");
    }
    return new Target(
        Long.parseLong(text.substring(0, space)), Integer.parseInt(text.substring(space + 1)));
  }
}
