// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import java.util.Locale;

/** The wire protocol between programs in containers. */
enum Wire {
  ROCE,
  IWARP;

  /**
   * Returns the URI, without a port, on which a program listens at all addresses of its container.
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
