// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

/** Addresses that no other JVM of this machine uses, all of which are this machine's. */
public final class Loopbacks {
  /** The first. */
  public static final String ADDRESS = address(0);

  private Loopbacks() {}

  /** Another one for each number from 0 to 63; none ends in 255, where Java has no sockets. */
  public static String address(int number) {
    long pid = ProcessHandle.current().pid();
    return "127." + (64 + number) + "." + (pid / 255 & 0xff) + "." + pid % 255;
  }
}
