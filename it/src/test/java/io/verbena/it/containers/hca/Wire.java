// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import java.util.Locale;

/** A wire between programs in containers. */
enum Wire {
  ROCE,
  IWARP;

  /**
   * Returns the URI, without a port, at which a program serves on all addresses of its container.
   */
  String any() {
    return at("0.0.0.0");
  }

  /** Returns the URI at which other containers reach a program. */
  String at(String hostAndPort) {
    return scheme() + "://" + hostAndPort;
  }

  String scheme() {
    return name().toLowerCase(Locale.ROOT);
  }
}
