// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.verbena.emulated.Caller;
import io.verbena.emulated.ForeignClient;
import io.verbena.emulated.ForeignFpdus;
import io.verbena.emulated.ForeignPeer;
import io.verbena.emulated.Loopbacks;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.iwarp.frame.MpaFrame;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests how TCP connections end. */
@Tag("once")
class TcpStreamTest {
  private static final URI ANY = URI.create("iwarp://" + Loopbacks.ADDRESS + ":0");
  private static final int UNKNOWN_KEY = 0x77;

  /** Number of SENDs, of 1 MB each. */
  private static final int SENDS = 48;

  private static final ByteBuffer NO_DATA = ByteBuffer.allocate(0).asReadOnlyBuffer();

  /** Linux reports only this error as a rejection by the peer (cma.c, cma_iw_handler). */
  @ParameterizedTest
  @MethodSource("failures")
  void tellsARefusalFromAFailureOfTheNetwork(IOException why, String told) throws IOException {
    try (Caller caller = new Caller(ANY);
        SocketChannel channel = SocketChannel.open()) {
      IwarpFabric fabric = (IwarpFabric) ((EmulatedDevice) caller.device).fabric();
      Program program = new Program();
      TcpStream stream =
          TcpStream.active(
              new LockedTurnTest.Unread(fabric), new Failing(channel, why), frame(), program);

      fabric.entered(() -> stream.begin(Caller.LIMIT.toNanos()));

      assertThat(program.told).containsExactly(told);
    }
  }

  static Stream<Arguments> failures() {
    return Stream.of(
        arguments(new ConnectException("Connection refused"), "nobody listens"),
        arguments(new ConnectException("Connection timed out"), "failed -110"),
        arguments(new NoRouteToHostException("No route to host"), "failed -113"),
        arguments(new SocketException("Network is unreachable"), "failed -101"),
        arguments(new BindException("Permission denied"), "failed -101"),
        arguments(new SocketException("Connection reset by peer"), "failed -104"),
        arguments(new IOException("Broken pipe"), "failed -104"),
        arguments(new ClosedChannelException(), "failed -101"));
  }

  /** Nobody polls and no byte arrives, so only an alarm wakes the driver. */
  @Test
  void isClosedInTimeThoughThePeerThatWasRejectedDoesNotClose() throws Exception {
    try (Caller caller = new Caller(ANY);
        ConnectionListener listener = caller.manager.listen(PortSpace.TCP, ANY, 1);
        Socket peer = new Socket(listener.address().getHost(), listener.address().getPort())) {
      TcpSockets sockets = ((IwarpFabric) ((EmulatedDevice) caller.device).fabric()).sockets();
      peer.getOutputStream().write(request());
      try (ConnectionIdentifier passive =
          caller.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier()) {
        await().atMost(Caller.LIMIT).until(TcpStreamTest::driverSleeps);

        passive.reject(NO_DATA);

        await().atMost(Caller.LIMIT).until(() -> !sockets.hasStreams());
      }
    }
  }

  /** After the close only the stream refers to the socket. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void tellsWhyItEndsBehindWhatThePeerHadNotRead(boolean closes) throws Exception {
    try (ForeignClient peer = new ForeignClient()) {
      ByteArrayOutputStream came = failWithItsSocketFull(peer, closes);
      came.writeBytes(peer.socket().getInputStream().readAllBytes());

      assertThat(lastOf(came.toByteArray()))
          .startsWith("4147" + "00000000" + "00000002" + "00000001" + "00000000" + "1100");
      await().atMost(Caller.LIMIT).until(() -> !fabric(peer).sockets().hasStreams());
    }
  }

  /** The first message and the faulty one arrive in one read. */
  @Test
  void wasEstablishedThoughThePeersSecondMessageEndsIt() throws Exception {
    try (ForeignClient peer = new ForeignClient()) {
      QueuePair pair = peer.accepted(ForeignPeer.hex("MPA ID Req Frame") + "1002000480048004");
      assertThat(peer.read(24)).startsWith(ForeignPeer.REPLY);
      IwarpFabric fabric = fabric(peer);
      fabric.enter();
      try {
        String emptyWrite = "000ec140" + "00".repeat(4 + 8 + 4);
        peer.write(emptyWrite + ForeignFpdus.write(UNKNOWN_KEY, 0));
        ForeignPeer.driveUntil(fabric, pair, QueuePairState.ERR);
      } finally {
        fabric.leave();
      }

      peer.caller.expect(ConnectionEvent.Type.ESTABLISHED);
      peer.caller.expect(ConnectionEvent.Type.DISCONNECTED);
    }
  }

  /**
   * Posts more than the sockets of both ends hold, then makes the stream fail. Returns the bytes
   * that the peer reads between the failure and the next turn. So that turn, however late, finds
   * room for the rest and sends it before alarms run.
   */
  private static ByteArrayOutputStream failWithItsSocketFull(ForeignClient peer, boolean closes)
      throws Exception {
    QueuePair pair = peer.established(ForeignPeer.REQUEST);
    IwarpFabric fabric = fabric(peer);
    fabric.enter();
    try {
      peer.write(ForeignFpdus.send());
      for (int i = 0; i < SENDS; i++) {
        pair.postSend(
            new SendWorkRequest(1)
                .send()
                .buffer(peer.caller.region.address(), Caller.SIZE, peer.caller.region.lkey()));
      }
      ForeignPeer.driveUntilIdle(fabric);
      peer.write(ForeignFpdus.write(UNKNOWN_KEY, 0));
      ForeignPeer.driveUntil(fabric, pair, QueuePairState.ERR);
      if (closes) {
        pair.close();
        pair.close();
      }
      return readAvailable(peer.socket().getInputStream());
    } finally {
      fabric.leave();
    }
  }

  private static ByteArrayOutputStream readAvailable(InputStream from) throws IOException {
    ByteArrayOutputStream read = new ByteArrayOutputStream();
    for (int count = from.available(); count > 0; count = from.available()) {
      read.writeBytes(from.readNBytes(count));
    }
    return read;
  }

  private static IwarpFabric fabric(ForeignClient peer) {
    return (IwarpFabric) ((EmulatedDevice) peer.caller.device).fabric();
  }

  /** Returns the segment of the last FPDU, which is complete. */
  private static String lastOf(byte[] fpdus) {
    ByteBuffer all = ByteBuffer.wrap(fpdus);
    int at = 0;
    int length = 0;
    for (int next = 0; next < fpdus.length; next = at + 2 + length + (-(length + 2) & 3) + 4) {
      at = next;
      length = all.getShort(at) & 0xffff;
    }
    return HexFormat.of().formatHex(fpdus, at + 2, at + 2 + length);
  }

  private static byte[] request() {
    return frame().bytes().array();
  }

  private static MpaFrame frame() {
    return new MpaFrame(
        MpaFrame.Kind.REQUEST,
        MpaFrame.ENHANCED_REVISION,
        /* markers= */ false,
        /* crc= */ false,
        /* rejects= */ false,
        MpaFrame.Depths.of(4, 4),
        NO_DATA);
  }

  private static boolean driverSleeps() {
    return Thread.getAllStackTraces().values().stream()
        .flatMap(Arrays::stream)
        .anyMatch(
            frame ->
                frame.getClassName().equals(SocketSelector.class.getName())
                    && frame.getMethodName().equals("await"));
  }

  /** A socket whose connect fails. */
  private record Failing(SocketChannel channel, IOException why) implements StreamSocket {
    @Override
    public ScatteringByteChannel input() {
      return channel;
    }

    @Override
    public GatheringByteChannel output() {
      return channel;
    }

    @Override
    public boolean finishConnect() throws IOException {
      throw why;
    }

    @Override
    public void interest(int operations) {}

    @Override
    public void shutdownOutput() {}

    @Override
    public InetSocketAddress local() {
      return new InetSocketAddress(0);
    }

    @Override
    public InetSocketAddress remote() {
      return new InetSocketAddress(0);
    }

    @Override
    public void resetAtClose() {}

    @Override
    public void close() {}
  }

  /** Records its events. */
  private static final class Program implements StreamUser {
    final List<String> told = new ArrayList<>();

    @Override
    public void accepted(MpaFrame reply) {
      told.add("accepted");
    }

    @Override
    public void refused(MpaFrame reply) {
      told.add("refused");
    }

    @Override
    public void nobodyListens() {
      told.add("nobody listens");
    }

    @Override
    public void failed(int errno) {
      told.add("failed " + errno);
    }

    @Override
    public void established() {
      told.add("established");
    }

    @Override
    public void ended() {
      told.add("ended");
    }
  }
}
