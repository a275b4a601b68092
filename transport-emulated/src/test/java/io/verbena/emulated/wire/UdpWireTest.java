package io.verbena.emulated.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.roce.Frame;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.verbs.Gid;
import java.io.IOException;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;

/** Where sockets are connected: not where an RNIC may be at the other end. */
class UdpWireTest {
  private static final int OTHER_PORT = Frame.UDP_PORT + 1;

  private final InetAddress local;
  private final InetAddress remote;

  UdpWireTest() throws IOException {
    long pid = ProcessHandle.current().pid();
    local = address(1, pid);
    remote = address(2, pid);
  }

  /** That no other JVM has; none ends in 255, where Java has no sockets. */
  private static InetAddress address(int number, long pid) throws IOException {
    return InetAddress.getByAddress(
        new byte[] {127, (byte) (128 + number), (byte) (pid / 255), (byte) (pid % 255)});
  }

  @Test
  void leavesTheIdentificationForRnics() throws IOException {
    try (UdpWire wire = UdpWire.open(local, Frame.UDP_PORT)) {
      sendMuch(wire, PacketOpcode.RC_SEND_ONLY, Frame.UDP_PORT);
      assertThat(wire.isConnected()).isEqualTo(!wire.passesStrictChecks());
    }
  }

  @Test
  void connectsWhereNoRnicTakesPackets() throws IOException {
    try (UdpWire wire = UdpWire.open(local, Frame.UDP_PORT)) {
      sendMuch(wire, PacketOpcode.UD_SEND_ONLY, OTHER_PORT);
      assertThat(wire.isConnected()).isTrue();
    }
  }

  @Test
  void connectsWhereNoRnicCouldAnswer() throws IOException {
    try (UdpWire wire = UdpWire.open(local, OTHER_PORT)) {
      sendMuch(wire, PacketOpcode.RC_SEND_ONLY, Frame.UDP_PORT);
      assertThat(wire.isConnected()).isTrue();
    }
  }

  @Test
  void leavesTheIdentificationForRnicsThatNeedNotAnswer() throws IOException {
    try (UdpWire wire = UdpWire.open(local, OTHER_PORT)) {
      sendMuch(wire, PacketOpcode.UD_SEND_ONLY, Frame.UDP_PORT);
      assertThat(wire.isConnected()).isEqualTo(!wire.passesStrictChecks());
    }
  }

  private void sendMuch(UdpWire wire, PacketOpcode opcode, int udpPort) throws IOException {
    Gid to = UdpGid.of(remote, udpPort);
    try (UdpWire receiver = UdpWire.open(remote, udpPort)) {
      assertThat(receiver.udpPort()).isEqualTo(udpPort);
      Wire.Port port = wire.attach((frame, fault) -> {});
      Frame frame = port.frame();
      for (int i = 0; i <= UdpFlow.ROW + 1; i++) {
        UdpGid.address(frame.start(opcode), port.gid(), to);
        assertThat(port.send(frame.sourcePort(port.sourcePort(0)).seal(), udpPort)).isTrue();
      }
    }
  }
}
