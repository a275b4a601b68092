// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** The path MTU in bytes of payload; numbers as in {@code enum ibv_mtu}. */
public enum Mtu {
  MTU_256(1),
  MTU_512(2),
  MTU_1024(3),
  MTU_2048(4),
  MTU_4096(5);

  private final int code;

  Mtu(int code) {
    this.code = code;
  }

  /** Returns the number in {@code enum ibv_mtu}. */
  public int code() {
    return code;
  }

  /** Returns the most payload of a packet, in bytes. */
  public int bytes() {
    return 128 << code;
  }
}
