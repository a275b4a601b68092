// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.Loopbacks;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.Gid;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

/** Sockets are connected only where no RNIC can be at the other end. */
class UdpWireTest {
  private static final int OTHER_PORT = RocePacket.UDP_PORT + 1;

  private final InetAddress local = address(62);
  private final InetAddress remote = address(63);

  private static InetAddress address(int number) {
    return new InetSocketAddress(Loopbacks.address(number), 0).getAddress();
  }

  @Test
  void leavesTheIdentificationForRnics() throws IOException {
    try (UdpWire wire = UdpWire.open(local, RocePacket.UDP_PORT)) {
      sendMuch(wire, PacketOpcode.RC_SEND_ONLY, RocePacket.UDP_PORT);
      assertThat(wire.isConnected()).isEqualTo(!wire.passesStrictChecks());
    }
  }

  @Test
  void connectsWhereNoRnicTakesPackets() throws IOException {
    try (UdpWire wire = UdpWire.open(local, RocePacket.UDP_PORT)) {
      sendMuch(wire, PacketOpcode.UD_SEND_ONLY, OTHER_PORT);
      assertThat(wire.isConnected()).isTrue();
    }
  }

  @Test
  void connectsWhereNoRnicCouldAnswer() throws IOException {
    try (UdpWire wire = UdpWire.open(local, OTHER_PORT)) {
      sendMuch(wire, PacketOpcode.RC_SEND_ONLY, RocePacket.UDP_PORT);
      assertThat(wire.isConnected()).isTrue();
    }
  }

  @Test
  void leavesTheIdentificationForRnicsThatNeedNotAnswer() throws IOException {
    try (UdpWire wire = UdpWire.open(local, OTHER_PORT)) {
      sendMuch(wire, PacketOpcode.UD_SEND_ONLY, RocePacket.UDP_PORT);
      assertThat(wire.isConnected()).isEqualTo(!wire.passesStrictChecks());
    }
  }

  private void sendMuch(UdpWire wire, PacketOpcode opcode, int udpPort) throws IOException {
    Gid to = UdpGid.of(remote, udpPort);
    try (UdpWire receiver = UdpWire.open(remote, udpPort)) {
      assertThat(receiver.udpPort()).isEqualTo(udpPort);
      Wire.Port port = wire.attach((frame, fault) -> {});
      RocePacket frame = port.packet();
      for (int i = 0; i <= UdpFlow.ROW + 1; i++) {
        UdpGid.address(frame.start(opcode), port.gid(), to);
        assertThat(port.send(frame.sourcePort(port.sourcePort(0)).seal(), udpPort))
            .isEqualTo(Wire.Outcome.SENT);
      }
    }
  }
}
