// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.verbena.emulated.Caller;
import io.verbena.emulated.Loopbacks;
import io.verbena.emulated.iwarp.frame.FpduCheck;
import io.verbena.emulated.iwarp.frame.FpduFault;
import io.verbena.emulated.iwarp.frame.FpduHeader;
import io.verbena.emulated.iwarp.frame.FpduLayout;
import io.verbena.emulated.iwarp.frame.MpaFault;
import io.verbena.emulated.iwarp.frame.MpaFrame;
import io.verbena.emulated.roce.Tshark;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests captures of {@code iwarp://} as readers of TCP and iWARP see them. */
@Tag("once")
class TcpCaptureTest {
  /** Needs several TCP segments and several FPDUs. */
  private static final int LARGE = 100_000;

  private static final int SMALL = 11;

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"IPV4", "[::1]"})
  void hasAllBytesOfBothDirectionsInOrder(String host) throws Exception {
    Path file = folder.resolve("iwarp.pcap");

    converse(host.replace("IPV4", Loopbacks.ADDRESS), file);

    await()
        .atMost(Caller.LIMIT)
        .ignoreExceptions()
        .untilAsserted(() -> assertThatBothHaveEnded(file));
    Iterator<CapturedTcp.Direction> both = new CapturedTcp(file).directions.values().iterator();
    CapturedTcp.Direction there = both.next();
    CapturedTcp.Direction back = both.next();
    assertThat(both.hasNext()).as("each byte is captured once").isFalse();
    assertThat(there.flags.get(0)).isEqualTo(TcpLayout.SYN);
    assertThat(back.flags.get(0)).isEqualTo(TcpLayout.SYN | TcpLayout.ACK);
    assertThat(opcodes(MpaFrame.Kind.REQUEST, there.bytes()))
        .containsExactly(
            "WRITE 0",
            "SEND 11",
            "WRITE 65512",
            "WRITE 34488",
            "READ_REQUEST 28",
            "SEND_WITH_INVALIDATE 11");
    assertThat(opcodes(MpaFrame.Kind.REPLY, back.bytes()))
        .containsExactly("READ_RESPONSE 65512", "READ_RESPONSE 34488", "TERMINATE 24");
  }

  /** The close may finish only after the devices are closed. */
  private static void assertThatBothHaveEnded(Path file) throws IOException {
    assertThat(new CapturedTcp(file).directions.values())
        .hasSize(2)
        .allMatch(each -> each.has(TcpLayout.FIN));
  }

  @Test
  void isIwarpInTheEyesOfWireshark() throws Exception {
    Tshark.assumeInstalled();
    Path file = folder.resolve("iwarp.pcap");

    converse(Loopbacks.ADDRESS, file);

    await()
        .atMost(Caller.LIMIT)
        .ignoreExceptions()
        .untilAsserted(() -> assertThatBothHaveEnded(file));
    assertThat(Tshark.read(file, "-Y", "iwarp_mpa.req")).hasSize(1);
    assertThat(Tshark.read(file, "-Y", "iwarp_mpa.rep")).hasSize(1);
    List<Integer> opcodes =
        Tshark.read(file, "-Y", "iwarp_rdma", "-T", "fields", "-e", "iwarp_rdma.opcode").stream()
            .flatMap(line -> Stream.of(line.split(",", -1)))
            .map(Integer::decode)
            .toList();
    // The opcodes of WRITEs, SEND, READ request, READ responses, SEND_WITH_INV and TERMINATE.
    assertThat(opcodes).containsExactlyInAnyOrder(0, 3, 0, 0, 1, 2, 2, 4, 7);
    assertThat(
            Tshark.read(
                file,
                "-o",
                "tcp.check_checksum:TRUE",
                "-Y",
                "_ws.malformed || tcp.analysis.flags || tcp.checksum.status == Bad"))
        .isEmpty();
  }

  @Test
  void belongsToTheHcaOfTheProcess() {
    URI with = URI.create("iwarp://" + Loopbacks.ADDRESS + ":0?pcap=" + folder.resolve("a.pcap"));
    URI other = URI.create("iwarp://" + Loopbacks.ADDRESS + ":0?pcap=" + folder.resolve("b.pcap"));
    try (Caller first = new Caller(with);
        Caller second = new Caller(URI.create("iwarp://" + Loopbacks.ADDRESS + ":0"))) {
      assertThat(second.device.attributes().name()).isEqualTo(first.device.attributes().name());
      assertThatThrownBy(() -> new Caller(other))
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.INVALID))
          .hasMessageContaining("b.pcap (expected: " + folder.resolve("a.pcap"));
    }

    new Caller(other).close();

    assertThat(folder.resolve("b.pcap")).exists();
  }

  @Test
  void saysThatTheFileCannotBeWritten() {
    URI nowhere =
        URI.create("iwarp://" + Loopbacks.ADDRESS + ":0?pcap=" + folder.resolve("no/such/folder"));

    assertThatThrownBy(() -> new Caller(nowhere))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.INVALID))
        .hasMessageContaining("pcap: ")
        .hasMessageContaining("(expected: a file to write)");
  }

  /** Runs each operation once; the peer refuses the last one. */
  private static void converse(String host, Path file) throws Exception {
    URI address = URI.create("iwarp://" + host + ":0?crc=true&pcap=" + file);
    try (Caller active = new Caller(address);
        Caller passive = new Caller(address);
        ConnectionListener listener = passive.manager.listen(PortSpace.TCP, address, 1)) {
      ConnectionIdentifier asking = active.resolve(listener.address());
      asking.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());
      ConnectionEvent request = passive.expect(ConnectionEvent.Type.CONNECT_REQUEST);
      QueuePair answering = passive.queuePair(request.identifier());
      for (int id = 1; id <= 2; id++) {
        answering.postReceive(
            new ReceiveWorkRequest(1)
                .id(id)
                .buffer(passive.region.address(), SMALL, passive.region.lkey()));
      }
      request.identifier().accept(ConnectionParameters.defaults());
      active.expect(ConnectionEvent.Type.ESTABLISHED);
      passive.expect(ConnectionEvent.Type.ESTABLISHED);
      QueuePair pair = Objects.requireNonNull(asking.queuePair());
      long local = active.region.address();
      long remote = passive.region.address();
      int key = active.region.lkey();

      pair.postSend(new SendWorkRequest(1).send().signaled().buffer(local, SMALL, key));
      pair.postSend(
          new SendWorkRequest(1)
              .write(remote, passive.region.rkey())
              .signaled()
              .buffer(local, LARGE, key));
      pair.postSend(
          new SendWorkRequest(1)
              .read(remote, passive.region.rkey())
              .signaled()
              .buffer(local, LARGE, key));
      for (int i = 0; i < 3; i++) {
        assertThat(active.next().status()).isEqualTo(CompletionStatus.SUCCESS);
      }
      pair.postSend(
          new SendWorkRequest(1)
              .sendWithInvalidate(passive.region.rkey() + 1)
              .signaled()
              .buffer(local, SMALL, key));
      active.expect(ConnectionEvent.Type.DISCONNECTED);
      passive.expect(ConnectionEvent.Type.DISCONNECTED);
    }
  }

  /** Returns the opcodes behind the MPA frame, which must be complete FPDUs with correct CRCs. */
  private static List<String> opcodes(MpaFrame.Kind kind, ByteBuffer bytes) {
    assertThat(MpaFrame.check(kind, bytes)).isEqualTo(MpaFault.NONE);
    int at = MpaFrame.length(bytes);
    List<String> opcodes = new ArrayList<>();
    FpduHeader header = new FpduHeader();
    FpduCheck check = new FpduCheck();
    check.on(true);
    while (at < bytes.capacity()) {
      int length = FpduHeader.length(bytes, at);
      assertThat(header.parse(bytes, at)).isEqualTo(FpduFault.NONE);
      int end = at + length + header.payloadLength() + header.pad();
      check.begin();
      check.take(bytes, at, end - at);
      assertThat(check.matches(bytes.getInt(end))).isTrue();
      opcodes.add(header.opcode() + " " + header.payloadLength());
      at = end + FpduLayout.CRC_LENGTH;
    }
    assertThat(at).isEqualTo(bytes.capacity());
    return opcodes;
  }
}
