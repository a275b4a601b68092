// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import java.net.URI;

/** The addresses of the two processes of {@link RocePingPong} and {@link RoceWrites}. */
public enum RoceHosts {
  /** Both at one address, as programs of one host are: no RNIC is at either end. */
  ONE("roce://127.83.0.1"),

  /**
   * At an address each, as on two hosts, of which the other may have an RNIC: from JDK 19 on each
   * packet passes its strict check.
   */
  TWO("roce://127.83.0.2");

  private final String other;

  RoceHosts(String other) {
    this.other = other;
  }

  /** The address of the process that measures. */
  URI here() {
    return URI.create(ONE.other);
  }

  /** The address of the other process. */
  URI there() {
    return URI.create(other);
  }
}
