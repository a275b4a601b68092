package io.verbena.benchmarks.cost;

import java.util.List;
import java.util.Objects;

/** A host on the guest's switch, and the device that it has. */
enum Site {
  NODE1(Place.RXE, "VERBENA_NODE1", 1, ""),
  NODE2(Place.RXE, "VERBENA_NODE2", 2, ""),
  OUTSIDE1(Place.ROCE, "VERBENA_OUTSIDE", 3, "outside"),
  OUTSIDE2(Place.ROCE, "VERBENA_OUTSIDE2", 4, "outside2");

  /** How addresses begin there. */
  final String scheme;

  /** The number of its port at the switch. */
  final int port;

  private final String variable;
  private final String command;

  Site(String scheme, String variable, int port, String command) {
    this.scheme = scheme;
    this.variable = variable;
    this.port = port;
    this.command = command;
  }

  /** What comes before a command to have it there. */
  List<String> there() {
    return command.isEmpty() ? List.of() : List.of(command);
  }

  /** Its address. */
  String address() {
    return Objects.requireNonNull(System.getenv(variable), variable);
  }
}
