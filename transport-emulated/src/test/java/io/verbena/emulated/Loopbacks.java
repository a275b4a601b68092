// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

/** Loopback addresses of this machine that no other JVM on it uses. */
public final class Loopbacks {
  /** Address number 0. */
  public static final String ADDRESS = address(0);

  private Loopbacks() {}

  /** Returns address 0 to 63 of this JVM; none ends in 255, where Java opens no sockets. */
  public static String address(int number) {
    long pid = ProcessHandle.current().pid();
    return "127." + (64 + number) + "." + (pid / 255 & 0xff) + "." + pid % 255;
  }
}
