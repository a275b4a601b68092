package io.verbena.simulation.reactive;

import io.verbena.emulated.roce.Aeth;
import io.verbena.emulated.roce.ExtendedHeader;
import io.verbena.emulated.roce.Frame;
import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.SimulatedWire;
import io.verbena.simulation.scenario.FaultLog;
import io.verbena.simulation.scenario.Trace;
import io.verbena.simulation.scenario.Violation;
import org.jspecify.annotations.Nullable;

/** Sees all packets of a run, and keeps account of what the wire does to them. */
final class PacketObserver implements SimulatedWire.Tap {
  /** Of the emulated connection manager: as the kernel's, 4.096 us times 2 to the 14th. */
  static final long ACK_TIMEOUT_NANOS = 4096L << 14;

  /** Of the reactive layer: it asks its peer for all that the field can say. */
  static final int RETRIES = 7;

  private final ReactiveSimulation run;
  private final @Nullable Trace trace;
  private final FaultLog retries = new FaultLog();
  private final FaultLog nanos = new FaultLog();
  private int packets;
  private int strikes;

  PacketObserver(ReactiveSimulation run, @Nullable Trace trace) {
    this.run = run;
    this.trace = trace;
  }

  int packets() {
    return packets;
  }

  int strikes() {
    return strikes;
  }

  void event(long now, String what, Object who, Object about) {
    if (trace != null) {
      trace.event(now, what, who, about);
    }
  }

  /** Whether the wire has done enough lately for a request to run out of retries. */
  boolean explainsRetries(long now) {
    return retries.since(now - 2 * (RETRIES + 1) * ACK_TIMEOUT_NANOS) > RETRIES;
  }

  /** Whether it has done enough lately to use up so much time. */
  boolean explainsDelay(long now, long limit) {
    return nanos.since(now - 3 * limit) >= limit;
  }

  @Override
  public void sent(long now, int source, int destination, Frame frame) {
    if (trace != null) {
      trace.sent(now, source, destination, frame);
    }
    packets++;
    if (frame.opcode().has(ExtendedHeader.AETH) && Aeth.isRnrNak(frame.syndrome())) {
      run.failed(new Violation("a peer that keeps to its credits finds no receive"));
    }
  }

  @Override
  public void struck(long now, int source, int destination, Frame frame, Fault strike) {
    if (trace != null) {
      trace.struck(now, strike);
    }
    strikes++;
    long late =
        switch (strike.kind()) {
          case DELAY, REORDER, DUPLICATE -> strike.amount();
          case LOSS, CORRUPTION, PARTITION, STOP -> 0;
        };
    retries.add(now, 1 + late / ACK_TIMEOUT_NANOS);
    // Whoever waits for an answer notices at its timeout, and for the answer to that once more.
    nanos.add(now, 2 * ACK_TIMEOUT_NANOS + late);
  }

  @Override
  public void arrives(long now, int source, int destination, Frame frame) {
    if (trace != null) {
      trace.arrives(now, source, destination, frame);
    }
  }
}
