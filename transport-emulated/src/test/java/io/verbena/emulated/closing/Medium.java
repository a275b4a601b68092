// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.closing;

import io.verbena.emulated.EmulatedProvider;
import io.verbena.emulated.IwarpProvider;
import io.verbena.emulated.Loopbacks;
import io.verbena.emulated.RoceProvider;
import io.verbena.emulated.SeedOnFailure;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.VerbsProvider;
import java.net.URI;

/** The transports, each with an operation size that makes a close in the middle likely. */
enum Medium {
  DIRECT("emulated://closing", 1 << 19, 12),
  ASYNC("emulated://closing?mode=async&seed=" + SeedOnFailure.SEED, 1 << 16, 24),
  PACKETS("emulated://closing?wire=simulated", 1 << 15, 12),
  ROCE("roce://" + Loopbacks.address(41) + "?udp-port=0", 1 << 15, 12),
  /** All operations together exceed the buffers of TCP sockets. */
  IWARP("iwarp://" + Loopbacks.ADDRESS, 1 << 19, 12);

  /** Bytes of an operation other than an atomic. */
  final int length;

  /** Operations per round. */
  final int operations;

  private final URI address;

  Medium(String address, int length, int operations) {
    this.address = URI.create(address);
    this.length = length;
    this.operations = operations;
  }

  EmulatedDevice open() {
    VerbsProvider provider =
        switch (this) {
          case DIRECT, ASYNC, PACKETS -> new EmulatedProvider();
          case ROCE -> new RoceProvider();
          case IWARP -> new IwarpProvider();
        };
    return (EmulatedDevice) provider.open(address);
  }

  boolean has(Operation operation) {
    return this != IWARP || operation != Operation.DATAGRAM;
  }

  /** Returns an address to listen at. */
  URI own() {
    return switch (this) {
      case DIRECT, ASYNC, PACKETS -> URI.create("emulated://closing-manager");
      case ROCE -> URI.create("roce://" + Loopbacks.address(41) + ":7101?udp-port=0");
      case IWARP -> address;
    };
  }

  /** Returns an address without a listener. */
  URI peer() {
    return switch (this) {
      case DIRECT, ASYNC, PACKETS -> URI.create("emulated://nobody-is-here");
      case ROCE -> URI.create("roce://" + Loopbacks.address(41) + ":7102");
      case IWARP -> URI.create("iwarp://" + Loopbacks.ADDRESS + ":7102");
    };
  }
}
