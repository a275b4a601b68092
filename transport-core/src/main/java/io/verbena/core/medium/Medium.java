// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.medium;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** A carrier of connections, the fastest first; each is a verbs provider. */
enum Medium {
  EMULATED(Reach.PROCESS),
  SHM(Reach.HOST),
  DISNI(Reach.NETWORK),
  VERBS(Reach.NETWORK),
  IWARP(Reach.NETWORK),

  /** Made to be true and not to be fast: used where it is asked for. */
  ROCE(Reach.NETWORK);

  /** The distance that a medium reaches. */
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

  /** Returns whether it needs a device that a host may lack. */
  boolean needsDevice() {
    return this == DISNI || this == VERBS;
  }

  /** Returns the scheme of its provider. */
  String scheme() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the schemes of all. */
  static String schemes() {
    return Arrays.stream(values()).map(Medium::scheme).collect(Collectors.joining(", "));
  }
}
