// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

/**
 * Loopback addresses that no other JVM of this machine uses: a user of an address occupies RoCEv2's
 * UDP port there.
 */
final class Loopbacks {
  private Loopbacks() {}

  /**
   * Returns an address for each number from 0 to 3; none ends in 255, where Java opens no sockets.
   */
  static String address(int number) {
    long pid = ProcessHandle.current().pid();
    return "127." + (56 + number) + "." + (pid / 255 & 0xff) + "." + pid % 255;
  }
}
