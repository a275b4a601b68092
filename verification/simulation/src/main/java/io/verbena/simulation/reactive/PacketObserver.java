// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.verbena.emulated.roce.Aeth;
import io.verbena.emulated.roce.ExtendedHeader;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.SimulatedWire;
import io.verbena.simulation.scenario.FaultLog;
import io.verbena.simulation.scenario.Trace;
import io.verbena.simulation.scenario.Violation;
import org.jspecify.annotations.Nullable;

/** Observes all packets of a run and logs the cost of the faults that the wire injects. */
final class PacketObserver implements SimulatedWire.Tap {
  /**
   * The acknowledgement timeout that the emulated connection manager sets, as the kernel does:
   * 4.096 us times 2 to the 14th.
   */
  static final long ACK_TIMEOUT_NANOS = 4096L << 14;

  /** The retry count of the reactive layer: the largest value of the field. */
  static final int RETRIES = 7;

  /** The time without an answer after which an HCA reports that its retries are exhausted. */
  static final long RETRIES_NANOS = (RETRIES + 1) * ACK_TIMEOUT_NANOS;

  private final ReactiveSimulation simulation;
  private final @Nullable Trace trace;
  private final FaultLog retryCosts = new FaultLog();
  private final FaultLog delayCosts = new FaultLog();
  private int packets;
  private int injectedFaults;

  PacketObserver(ReactiveSimulation simulation, @Nullable Trace trace) {
    this.simulation = simulation;
    this.trace = trace;
  }

  int packets() {
    return packets;
  }

  int injectedFaults() {
    return injectedFaults;
  }

  void event(long now, String what, Object who, Object about) {
    if (trace != null) {
      trace.event(now, what, who, about);
    }
  }

  /** Returns whether recent faults suffice to exhaust the retries of a request. */
  boolean allowsRetryExhaustion(long now) {
    return retryCosts.costSince(now - 2 * (RETRIES + 1) * ACK_TIMEOUT_NANOS) > RETRIES;
  }

  /** Returns whether recent faults suffice to delay an operation by {@code limit} nanoseconds. */
  boolean allowsTimeout(long now, long limit) {
    return delayCosts.costSince(now - 3 * limit) >= limit;
  }

  @Override
  public void sent(long now, int source, int destination, RocePacket packet) {
    if (trace != null) {
      trace.sent(now, source, destination, packet);
    }
    packets++;
    if (packet.opcode().has(ExtendedHeader.AETH)
        && Aeth.isRnrNak(packet.syndrome())
        && !simulation.promisesMoreThanItPosts()) {
      simulation.failed(new Violation("RNR NAK, though credits guarantee a posted receive"));
    }
  }

  @Override
  public void struck(long now, int source, int destination, RocePacket packet, Fault fault) {
    if (trace != null) {
      trace.fault(now, fault);
    }
    injectedFaults++;
    long delay =
        switch (fault.kind()) {
          case DELAY, REORDER, DUPLICATE -> fault.amount();
          case LOSS, CORRUPTION, PARTITION, STOP, RESET -> 0;
        };
    retryCosts.record(now, 1 + delay / ACK_TIMEOUT_NANOS);
    // A requester waits for one timeout to notice a loss, and for a second one if the response to
    // the retry is lost too.
    delayCosts.record(now, 2 * ACK_TIMEOUT_NANOS + delay);
  }

  @Override
  public void arrives(long now, int source, int destination, RocePacket packet) {
    if (trace != null) {
      trace.arrived(now, source, destination, packet);
    }
  }
}
