// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

/** The hosts at the two ends of a connection. */
enum Route {
  RXE_TO_RXE("rxe > rxe", Host.NODE1, Host.NODE2),
  ROCE_TO_ROCE("roce > roce", Host.OUTSIDE1, Host.OUTSIDE2),
  ROCE_TO_RXE("roce > rxe", Host.OUTSIDE1, Host.NODE2),
  RXE_TO_ROCE("rxe > roce", Host.NODE1, Host.OUTSIDE2);

  /** Its human-readable name. */
  final String title;

  /** The host of the active end: it connects, pings and writes. */
  final Host near;

  /** The host of the passive end: it listens, answers, and is written to. */
  final Host far;

  Route(String title, Host near, Host far) {
    this.title = title;
    this.near = near;
    this.far = far;
  }

  /** Returns whether an end is an HCA in Java, whose code must be compiled first. */
  boolean isEmulated() {
    return near.scheme.equals(ConnectionAddress.ROCE) || far.scheme.equals(ConnectionAddress.ROCE);
  }
}
