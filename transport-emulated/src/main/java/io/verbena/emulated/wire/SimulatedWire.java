// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.emulated.engine.Timeline;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.Fault.Kind;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A simulated switch and its cables, which inflict the faults of a {@link FaultSchedule} on
 * packets. Its behavior is a pure function of the schedule and of the packets and the times at
 * which they are sent, so that a run under {@link VirtualTime} repeats bit for bit. Not
 * thread-safe.
 *
 * <p>Packets of one direction arrive in the order in which they were sent, except those that a
 * REORDER or a DUPLICATE moves behind others. At most {@link #MAX_FLIGHTS} packets are in flight at
 * once; further packets are dropped, as by a switch whose buffers are full. Frames are reused for
 * later packets.
 */
public final class SimulatedWire implements Wire {
  /** The most packets in flight. */
  public static final int MAX_FLIGHTS = 1 << 16;

  private static final int MAX_PORTS = 1 << 16;
  private static final int NETWORK = 10 << 24;
  private static final int SOURCE_PORTS = 0x3fff;

  /** Observes packets, for traces and captures. Called by the driver of the wire. */
  public interface Tap {

    /**
     * Called when a packet is sent.
     *
     * @param now the time in nanoseconds
     * @param source the number of the sending port
     * @param destination the number of the receiving port, or {@link Fault#ANY} if there is none
     * @param packet the packet as it is sent; the wire owns it again on return
     */
    void sent(long now, int source, int destination, RocePacket packet);

    /**
     * Called when a fault strikes the packet that was sent last.
     *
     * @param now the time in nanoseconds
     * @param source the number of the sending port
     * @param destination the number of the receiving port
     * @param packet the packet as it was sent; the wire owns it again on return
     * @param strike the fault
     */
    void struck(long now, int source, int destination, RocePacket packet, Fault strike);

    /**
     * Called when a packet arrives.
     *
     * @param now the time in nanoseconds
     * @param source the number of the sending port
     * @param destination the number of the receiving port
     * @param packet the packet, damaged if it was corrupted, and not parsed yet; the wire owns it
     *     again on return
     */
    void arrives(long now, int source, int destination, RocePacket packet);
  }

  private final Timeline time;
  private final FaultSchedule schedule;
  private final FaultDraw draw;
  private final List<SimulatedPort> ports = new ArrayList<>();
  private final FlightPool pool;
  private @Nullable Tap tap;
  private @Nullable List<Fault> strikes;
  private int inFlight;

  /** Creates a wire with packets of its own. */
  public SimulatedWire(Timeline time, FaultSchedule schedule) {
    this(time, schedule, new FlightPool());
  }

  /**
   * Creates a wire with the packets of a pool.
   *
   * @param pool the pool, which no other wire uses at the same time
   */
  public SimulatedWire(Timeline time, FaultSchedule schedule, FlightPool pool) {
    this.time = time;
    this.schedule = schedule;
    this.pool = pool;
    draw = new FaultDraw(schedule);
  }

  /** Sets the tap to call for each packet from now on; null for none. */
  public void tap(@Nullable Tap newTap) {
    tap = newTap;
  }

  /**
   * Records each strike from now on as a fault of one packet. A schedule of these faults strikes
   * the same packets in the same way.
   */
  public void record(List<Fault> into) {
    strikes = into;
  }

  /** Adds a fault that applies from now on. */
  public void add(Fault fault) {
    draw.add(fault);
  }

  /** Returns the number of packets in flight. */
  public int inFlight() {
    return inFlight;
  }

  @Override
  public SimulatedPort attach(Receiver receiver) {
    int number = ports.size();
    if (number == MAX_PORTS) {
      throw new IllegalStateException("ports: " + number + " (expected: < " + MAX_PORTS + ")");
    }
    SimulatedPort port = new SimulatedPort(number, receiver);
    ports.add(port);
    return port;
  }

  /** The packets from one port to another: their number, and the time of the last arrival. */
  private static final class Link {
    int packets;
    long lastArrival;
  }

  /** A port with its number in schedules and traces. */
  public final class SimulatedPort implements Port {
    private final int number;
    private final Receiver receiver;
    private final Gid gid;
    private @Nullable Link[] links = new @Nullable Link[0];
    private boolean closed;

    private SimulatedPort(int number, Receiver receiver) {
      this.number = number;
      this.receiver = receiver;
      gid = UdpGid.of(address(), RocePacket.UDP_PORT);
    }

    /** Returns the number of the port, counted from 0 in the order in which ports were attached. */
    public int number() {
      return number;
    }

    /** Returns the IPv4 address of the port, with the first byte in the high bits. */
    int address() {
      return NETWORK + 1 + number;
    }

    @Override
    public Gid gid() {
      return gid;
    }

    @Override
    public int sourcePort(int flow) {
      return RocePacket.DEFAULT_SOURCE_PORT | (flow & SOURCE_PORTS);
    }

    @Override
    public Outcome send(RocePacket packet, int udpPort) {
      int to = packet.destinationAddress() - NETWORK - 1;
      if (closed || udpPort != RocePacket.UDP_PORT || to < 0 || to >= ports.size()) {
        tapSent(this, Fault.ANY, packet);
        return Outcome.DROPPED;
      }
      carry(this, ports.get(to), packet);
      return Outcome.SENT;
    }

    private Link link(int to) {
      if (to >= links.length) {
        links = Arrays.copyOf(links, Math.max(ports.size(), to + 1));
      }
      Link link = links[to];
      if (link == null) {
        link = new Link();
        links[to] = link;
      }
      return link;
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  private void carry(SimulatedPort from, SimulatedPort to, RocePacket packet) {
    long now = time.now();
    Link link = from.link(to.number);
    int ordinal = link.packets++;
    tapSent(from, to.number, packet);
    boolean lost = false;
    boolean overtaken = false;
    long delay = 0;
    long repeat = 0;
    int bits = 0;
    long salt = 0;
    for (int i = 0; i < draw.size(); i++) {
      if (!draw.strikes(i, from.number, to.number, ordinal, now)) {
        continue;
      }
      Fault fault = draw.get(i);
      switch (fault.kind()) {
        case RESET -> {
          continue;
        }
        case LOSS, PARTITION, STOP -> lost = true;
        case DELAY -> delay += fault.amount();
        case REORDER -> {
          delay += fault.amount();
          overtaken = true;
        }
        case DUPLICATE -> repeat = fault.amount();
        case CORRUPTION -> {
          bits = (int) fault.amount();
          salt = draw.chance();
        }
      }
      note(fault, from.number, to.number, ordinal, draw.chance());
      if (tap != null) {
        tap.struck(now, from.number, to.number, packet, fault);
      }
      if (lost) {
        return;
      }
    }
    long arrival = now + schedule.latency() + delay;
    if (!overtaken) {
      arrival = Math.max(arrival, link.lastArrival);
      link.lastArrival = arrival;
    }
    launch(from, to, packet, arrival, bits, salt);
    if (repeat > 0) {
      launch(from, to, packet, arrival + repeat, 0, 0);
    }
  }

  private void note(Fault fault, int source, int destination, int ordinal, long salt) {
    if (strikes != null) {
      // A packet that a partition or a stop dropped is recorded as a lost packet.
      Kind kind =
          switch (fault.kind()) {
            case PARTITION, STOP -> Kind.LOSS;
            case LOSS, DELAY, REORDER, DUPLICATE, CORRUPTION, RESET -> fault.kind();
          };
      strikes.add(
          new Fault(
              kind,
              source,
              destination,
              0,
              Long.MAX_VALUE,
              ordinal,
              Fault.ALWAYS,
              fault.amount(),
              salt));
    }
  }

  private void tapSent(SimulatedPort from, int to, RocePacket packet) {
    if (tap != null) {
      tap.sent(time.now(), from.number, to, packet);
    }
  }

  private void launch(
      SimulatedPort from, SimulatedPort to, RocePacket packet, long arrival, int bits, long salt) {
    if (inFlight == MAX_FLIGHTS) {
      return;
    }
    inFlight++;
    FlightPool.Flight flight = pool.take();
    flight.packet.copyFrom(packet);
    damage(flight.packet, bits, salt);
    flight.begin(this, from, to, time, arrival);
  }

  private static void damage(RocePacket packet, int bits, long salt) {
    ByteBuffer bytes = packet.bytes();
    long state = salt;
    for (int i = 0; i < bits; i++) {
      state = FaultDraw.mix(state + i);
      int bit = (int) Long.remainderUnsigned(state, (long) Byte.SIZE * packet.length());
      int at = bit / Byte.SIZE;
      bytes.put(at, (byte) (bytes.get(at) ^ 1 << bit % Byte.SIZE));
    }
  }

  /** Delivers the packet of a flight that has arrived, and frees the flight. */
  void land(FlightPool.Flight flight, SimulatedPort from, SimulatedPort to) {
    inFlight--;
    try {
      if (!to.closed) {
        if (tap != null) {
          tap.arrives(time.now(), from.number, to.number, flight.packet);
        }
        to.receiver.receive(flight.packet, flight.packet.parse());
      }
    } finally {
      pool.give(flight);
    }
  }
}
