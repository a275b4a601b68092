// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import io.verbena.emulated.SimulatedFabric;
import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.FlightPool;
import io.verbena.emulated.wire.SimulatedWire;
import io.verbena.emulated.wire.VirtualTime;
import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.Network;
import io.verbena.verbs.Device;
import java.util.List;

/** Emulated HCAs that exchange RoCEv2 packets over a simulated wire. */
final class PacketNetwork implements Network {
  private final SimulatedFabric fabric;
  private final FlightPool flights;

  PacketNetwork(VerbsScenario scenario, Arena arena, SimulatedWire.Tap tap) {
    flights = arena.flights;
    fabric =
        new SimulatedFabric(scenario.seed(), scenario.faults(), scenario.flowControl(), flights);
    fabric.wire().tap(tap);
  }

  @Override
  public Device open() {
    return fabric.open();
  }

  @Override
  public VirtualTime clock() {
    return fabric.time();
  }

  @Override
  public boolean step() {
    return fabric.step(Long.MAX_VALUE);
  }

  @Override
  public void record(List<Fault> into) {
    fabric.wire().record(into);
  }

  @Override
  public int left() {
    return fabric.wire().inFlight() + flights.inUse();
  }
}
