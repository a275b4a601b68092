// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.emulated.Loopbacks;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class UdpFlowTest {
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  /** Not 127.0.0.1, where another process could take the port of a closed receiver. */
  private final InetAddress local = new InetSocketAddress(Loopbacks.address(61), 0).getAddress();

  private final ByteBuffer packet = ByteBuffer.allocateDirect(Integer.BYTES);
  private UdpFlow flow;
  private DatagramChannel receiver;
  private int sent;

  @BeforeEach
  void open() throws IOException {
    flow = new UdpFlow(local);
    receiver = receiver(0);
  }

  @AfterEach
  void close() throws IOException {
    flow.close();
    receiver.close();
  }

  @Test
  void connectsToWhomItSendsMuchAndNothingChangesForThem() throws IOException {
    for (int i = 0; i < UdpFlow.ROW; i++) {
      assertThat(flow.isConnected()).isFalse();
      expectToCome(receiver, false);
    }
    expectToCome(receiver, false);
    assertThat(flow.isConnected()).isTrue();
    expectToCome(receiver, false);
  }

  @Test
  void neverConnectsWhereSomebodyCountsTheIdentification() throws IOException {
    for (int i = 0; i < 2 * UdpFlow.ROW; i++) {
      expectToCome(receiver, true);
    }
    assertThat(flow.isConnected()).isFalse();
  }

  @Test
  void isNotConnectedToAnybodyElse() throws IOException {
    connect();
    try (DatagramChannel other = receiver(0)) {
      expectToCome(other, false);
      assertThat(flow.isConnected()).isFalse();
      expectToCome(receiver, false);
    }
  }

  @Test
  void leavesTheIdentificationAsSoonAsSomebodyCountsIt() throws IOException {
    connect();
    expectToCome(receiver, true);
    assertThat(flow.isConnected()).isFalse();
  }

  @Test
  void losesNothingOfWhatIsSentToASuccessor() throws IOException {
    connect();
    int port = port(receiver);
    receiver.close();
    // The kernel reports the refusal when a later packet is sent, which must not be lost.
    assertThat(send(port, false)).isTrue();
    receiver = receiver(port);
    expectToCome(receiver, false);
    assertThat(flow.isConnected()).isFalse();
  }

  @Test
  void hearsThatAHostRefusesPacketsWhichItsUnconnectedSocketSends() throws IOException {
    int port = port(receiver);
    try (UnreachableReports unreachableReports = unreachableReports(port);
        UnreachableReports shared = unreachableReports(port)) {
      expectToCome(receiver, true);
      assertThat(unreachableReports.count()).isZero();

      receiver.close();
      for (int i = 1; i <= 3; i++) {
        assertThat(send(port, true)).isTrue();
        int expected = i;
        await().atMost(DEADLINE).until(() -> unreachableReports.count() == expected);
      }

      assertThat(shared.count()).isEqualTo(3);
      receiver = receiver(0);
      assertThat(unreachableReports(port(receiver)).count()).isZero();
    }
  }

  @Test
  void listensToSoManyAddressesOnly() {
    List<UnreachableReports> heard = new ArrayList<>();
    for (int port = 1; port <= UdpFlow.MOST_WATCHES; port++) {
      heard.add(unreachableReports(port));
    }
    InetSocketAddress another = new InetSocketAddress(local, UdpFlow.MOST_WATCHES + 1);

    assertThat(heard).doesNotContainNull();
    assertThat(flow.unreachableReports(another)).isNull();

    heard.get(0).close();
    assertThat(flow.unreachableReports(another)).isNotNull();
  }

  private UnreachableReports unreachableReports(int port) {
    UnreachableReports unreachableReports =
        flow.unreachableReports(new InetSocketAddress(local, port));
    assertThat(unreachableReports).isNotNull();
    return unreachableReports;
  }

  @Test
  void closesTwice() throws IOException {
    connect();
    flow.close();
    flow.close();
    assertThat(flow.isConnected()).isFalse();
  }

  private void connect() throws IOException {
    for (int i = 0; !flow.isConnected(); i++) {
      assertThat(i).isLessThanOrEqualTo(UdpFlow.ROW);
      expectToCome(receiver, false);
    }
  }

  private DatagramChannel receiver(int port) throws IOException {
    DatagramChannel channel = DatagramChannel.open(UdpWire.family(local));
    channel.configureBlocking(false);
    return channel.bind(new InetSocketAddress(local, port));
  }

  private static int port(DatagramChannel channel) throws IOException {
    return ((InetSocketAddress) channel.getLocalAddress()).getPort();
  }

  private boolean send(int port, boolean identified) throws IOException {
    packet.clear().putInt(0, ++sent);
    return flow.send(packet, new InetSocketAddress(local, port), identified);
  }

  private void expectToCome(DatagramChannel to, boolean identified) throws IOException {
    assertThat(send(port(to), identified)).isTrue();
    ByteBuffer came = ByteBuffer.allocate(Long.BYTES);
    InetSocketAddress[] from = new InetSocketAddress[1];
    await()
        .pollInterval(Duration.ofMillis(1))
        .pollDelay(Duration.ZERO)
        .atMost(DEADLINE)
        .until(
            () -> {
              from[0] = (InetSocketAddress) to.receive(came);
              return from[0] != null;
            });
    assertThat(came.flip().getInt()).isEqualTo(sent);
    assertThat(came.hasRemaining()).isFalse();
    assertThat(from[0]).isEqualTo(new InetSocketAddress(local, flow.port()));
  }
}
