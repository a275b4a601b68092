// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.medium;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The media that carry connections, the fastest first; each is a verbs provider. */
enum Medium {
  EMULATED(Reach.PROCESS),
  SHM(Reach.HOST),
  DISNI(Reach.NETWORK),
  VERBS(Reach.NETWORK),
  IWARP(Reach.NETWORK),

  /** Built for fidelity, not speed: used only if the address names it. */
  ROCE(Reach.NETWORK);

  /** The distance that a medium spans. */
  enum Reach {
    PROCESS,
    HOST,
    NETWORK
  }

  private final Reach reach;

  Medium(Reach reach) {
    this.reach = reach;
  }

  Reach reach() {
    return reach;
  }

  /** Returns whether the medium needs an RNIC, which a host may lack. */
  boolean needsDevice() {
    return this == DISNI || this == VERBS;
  }

  /** Returns the scheme of the medium's provider. */
  String scheme() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the schemes of all media, separated by commas. */
  static String schemes() {
    return Arrays.stream(values()).map(Medium::scheme).collect(Collectors.joining(", "));
  }
}
