// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.util.List;
import java.util.Objects;

/** A host on the guest's switch, with its device. */
enum Host {
  NODE1(ConnectionAddress.RXE, "VERBENA_NODE1", 1, ""),
  NODE2(ConnectionAddress.RXE, "VERBENA_NODE2", 2, ""),
  OUTSIDE1(ConnectionAddress.ROCE, "VERBENA_OUTSIDE", 3, "outside"),
  OUTSIDE2(ConnectionAddress.ROCE, "VERBENA_OUTSIDE2", 4, "outside2");

  /** The scheme of its device's address. */
  final String scheme;

  /** The number of its port at the switch. */
  final int port;

  private final String variable;
  private final String command;

  Host(String scheme, String variable, int port, String command) {
    this.scheme = scheme;
    this.variable = variable;
    this.port = port;
    this.command = command;
  }

  /** Returns the prefix of a command that runs it on this host. */
  List<String> there() {
    return command.isEmpty() ? List.of() : List.of(command);
  }

  /** Returns its address. */
  String address() {
    return Objects.requireNonNull(System.getenv(variable), variable);
  }
}
