// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.emulated.engine.Timeline;
import io.verbena.emulated.roce.RocePacket;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Reusable objects for the packets in flight of a {@link SimulatedWire}; for one wire at a time.
 * Not thread-safe.
 */
public final class FlightPool {
  private final ArrayDeque<Flight> free = new ArrayDeque<>();
  private int out;

  /** Returns the number of packets in use. */
  public int inUse() {
    return out;
  }

  Flight take() {
    out++;
    Flight flight = free.poll();
    return flight == null ? new Flight() : flight;
  }

  void give(Flight flight) {
    out--;
    free.push(flight);
  }

  /** A packet in flight. */
  static final class Flight {
    final RocePacket packet = new RocePacket();
    private @Nullable Timeline time;
    private Timeline.@Nullable Alarm arrival;
    private @Nullable SimulatedWire wire;
    private SimulatedWire.@Nullable SimulatedPort from;
    private SimulatedWire.@Nullable SimulatedPort to;

    void begin(
        SimulatedWire onWire,
        SimulatedWire.SimulatedPort source,
        SimulatedWire.SimulatedPort destination,
        Timeline inTime,
        long at) {
      wire = onWire;
      from = source;
      to = destination;
      Timeline.Alarm alarm = arrival;
      if (alarm == null || time != inTime) {
        time = inTime;
        alarm = inTime.alarm(this::arrive);
        arrival = alarm;
      }
      alarm.set(at);
    }

    private void arrive() {
      SimulatedWire onWire = wire;
      SimulatedWire.SimulatedPort source = from;
      SimulatedWire.SimulatedPort destination = to;
      if (onWire == null || source == null || destination == null) {
        throw new AssertionError("a flight that never began");
      }
      onWire.land(this, source, destination);
    }
  }
}
