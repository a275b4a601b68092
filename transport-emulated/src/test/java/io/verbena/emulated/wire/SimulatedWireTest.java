// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.roce.PacketFault;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.Fault.Kind;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SimulatedWireTest {
  private static final long LATENCY = 1000;
  private static final int PACKETS = 400;
  private static final long SALT = 42;

  private final VirtualTime time = new VirtualTime();
  private final List<String> arrived = new ArrayList<>();
  private final RocePacket copy = new RocePacket();

  private SimulatedWire wire(Fault... faults) {
    return new SimulatedWire(time, new FaultSchedule(LATENCY, List.of(faults)));
  }

  private void note(String port, RocePacket frame) {
    PacketFault fault = copy.copyFrom(frame).parse();
    arrived.add(port + " " + time.now() + " " + (fault == PacketFault.NONE ? copy.psn() : "bad"));
  }

  /** Sends packets with PSNs from 0 on from port 0 to port 1, one per nanosecond. */
  private List<String> send(SimulatedWire wire, int packets) {
    Wire.Port from = wire.attach((frame, fault) -> note("0", frame));
    Wire.Port to = wire.attach((frame, fault) -> note("1", frame));
    for (int psn = 0; psn < packets; psn++) {
      send(from, to, psn);
    }
    runAll();
    assertThat(wire.inFlight()).isZero();
    return arrived;
  }

  private void send(Wire.Port from, Wire.Port to, int psn) {
    RocePacket frame =
        new RocePacket().start(PacketOpcode.RC_SEND_ONLY).psn(psn).destinationQueuePair(9);
    frame
        .append(ByteBuffer.allocate(20), 0, 20)
        .addresses(UdpGid.address(from.gid()), UdpGid.address(to.gid()))
        .seal();
    time.schedule(psn, () -> from.send(frame, RocePacket.UDP_PORT));
  }

  private void runAll() {
    while (time.runDue() || time.advance(Long.MAX_VALUE)) {}
  }

  @Test
  void deliversPacketsInOrderAfterItsLatency() {
    assertThat(send(wire(), 3)).containsExactly("1 1000 0", "1 1001 1", "1 1002 2");
  }

  @Test
  void losesAboutAsManyAsItIsTold() {
    List<String> left = send(wire(Fault.always(Kind.LOSS, 250_000, 0, SALT)), PACKETS);

    assertThat(left).hasSizeBetween(PACKETS / 2, PACKETS - PACKETS / 8);
  }

  @Test
  void losesInOneDirectionAndWithinAWindowOnly() {
    SimulatedWire wire = wire(new Fault(Kind.LOSS, 0, 1, 1, 3, Fault.ANY, Fault.ALWAYS, 0, SALT));

    assertThat(send(wire, 4)).containsExactly("1 1000 0", "1 1003 3");
  }

  @Test
  void strikesOnePacketByItsNumber() {
    SimulatedWire wire =
        wire(new Fault(Kind.LOSS, 0, 1, 0, Long.MAX_VALUE, 2, Fault.ALWAYS, 0, SALT));

    assertThat(send(wire, 4)).containsExactly("1 1000 0", "1 1001 1", "1 1003 3");
  }

  @Test
  void partsTwoPortsInBothDirections() {
    SimulatedWire wire =
        wire(new Fault(Kind.PARTITION, 1, 0, 0, 10, Fault.ANY, Fault.ALWAYS, 0, SALT));

    assertThat(send(wire, 12)).containsExactly("1 1010 10", "1 1011 11");
  }

  @Test
  void stopsAPort() {
    SimulatedWire wire =
        wire(new Fault(Kind.STOP, 1, Fault.ANY, 2, Long.MAX_VALUE, -1, Fault.ALWAYS, 0, SALT));

    assertThat(send(wire, 12)).containsExactly("1 1000 0", "1 1001 1");
  }

  @Test
  void delaysAPacketAndAllBehindIt() {
    SimulatedWire wire =
        wire(new Fault(Kind.DELAY, 0, 1, 0, Long.MAX_VALUE, 1, Fault.ALWAYS, 500, SALT));

    assertThat(send(wire, 3)).containsExactly("1 1000 0", "1 1501 1", "1 1501 2");
  }

  @Test
  void letsOthersOvertakeAPacketThatIsReordered() {
    SimulatedWire wire =
        wire(new Fault(Kind.REORDER, 0, 1, 0, Long.MAX_VALUE, 0, Fault.ALWAYS, 500, SALT));

    assertThat(send(wire, 3)).containsExactly("1 1001 1", "1 1002 2", "1 1500 0");
  }

  @Test
  void deliversADuplicate() {
    SimulatedWire wire =
        wire(new Fault(Kind.DUPLICATE, 0, 1, 0, Long.MAX_VALUE, 0, Fault.ALWAYS, 500, SALT));

    assertThat(send(wire, 2)).containsExactly("1 1000 0", "1 1001 1", "1 1500 0");
  }

  @Test
  void corruptsPacketsSoThatTheirChecksFail() {
    List<String> all = send(wire(Fault.always(Kind.CORRUPTION, Fault.ALWAYS, 3, SALT)), PACKETS);

    assertThat(all).hasSize(PACKETS);
    // Some flips hit bits that no check covers, such as the congestion bits.
    assertThat(all).filteredOn(line -> line.endsWith("bad")).hasSizeGreaterThan(PACKETS * 9 / 10);
  }

  @Test
  void doesTheSameAgain() {
    Fault loss = Fault.always(Kind.LOSS, 300_000, 0, SALT);
    Fault late = Fault.always(Kind.REORDER, 300_000, 77, SALT);
    List<String> first = List.copyOf(send(wire(loss, late), PACKETS));
    SimulatedWireTest again = new SimulatedWireTest();

    assertThat(again.send(again.wire(loss, late), PACKETS)).isEqualTo(first);
  }

  @Test
  void doesTheSameToTheSamePacketsByAListOfItsStrikes() {
    SimulatedWire wire =
        wire(
            Fault.always(Kind.LOSS, 200_000, 0, SALT),
            Fault.always(Kind.DUPLICATE, 200_000, 99, SALT + 1),
            Fault.always(Kind.CORRUPTION, 200_000, 4, SALT + 2));
    List<Fault> strikes = new ArrayList<>();
    wire.record(strikes);
    List<String> first = List.copyOf(send(wire, PACKETS));
    SimulatedWireTest again = new SimulatedWireTest();

    assertThat(again.send(again.wire(strikes.toArray(new Fault[0])), PACKETS)).isEqualTo(first);
    assertThat(strikes).hasSizeGreaterThan(PACKETS / 4);
  }

  @Test
  void dropsWhatIsOnItsWayToAPortThatIsClosed() {
    SimulatedWire wire = wire();
    Wire.Port from = wire.attach((frame, fault) -> note("0", frame));
    Wire.Port to = wire.attach((frame, fault) -> note("1", frame));
    send(from, to, 0);
    time.schedule(500, to::close);

    runAll();

    assertThat(arrived).isEmpty();
    assertThat(wire.inFlight()).isZero();
  }
}
