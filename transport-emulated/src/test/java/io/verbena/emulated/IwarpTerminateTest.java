// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static io.verbena.emulated.ForeignPeer.ANY;
import static io.verbena.emulated.ForeignPeer.EXTENDED_REQUEST;
import static io.verbena.emulated.ForeignPeer.REPLY;
import static io.verbena.emulated.ForeignPeer.REQUEST;
import static io.verbena.emulated.ForeignPeer.TIMEOUT;
import static io.verbena.emulated.ForeignPeer.connect;
import static io.verbena.emulated.ForeignPeer.isClosed;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedMemoryRegion;
import io.verbena.emulated.iwarp.IwarpFabric;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.HexFormat;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer reads why its stream ends, and then the end (RFC 5040, section 4.8). */
@Tag("once")
class IwarpTerminateTest {
  private static final String INVALID_TAG = "1100";
  private static final String PROTECTION = "01ff";
  private static final String LOCAL = "0000";

  private static final int LAST = 0x41;
  private static final int SEND = 0x43;
  private static final int READ_REQUEST = 0x41;
  private static final int UNKNOWN_KEY = 0x77;
  private static final int RECEIVE_BYTES = 64;
  private static final String BYTES = "00".repeat(8);

  /** What can be wrong with an FPDU, and what its sender is told: layer, type and code. */
  private enum Fault {
    WRITE_WITH_AN_UNKNOWN_TAG(INVALID_TAG, region -> write(UNKNOWN_KEY, region.address())),
    WRITE_BEYOND_ITS_REGION(
        INVALID_TAG, region -> write(region.rkey(), region.address() + Caller.SIZE - 4)),
    READ_WITH_AN_UNKNOWN_TAG(PROTECTION, region -> read(1, UNKNOWN_KEY, region.address())),
    READ_BEYOND_ITS_REGION(
        PROTECTION, region -> read(1, region.rkey(), region.address() + Caller.SIZE - 4)),
    READ_OUT_OF_ORDER("1203", region -> read(2, region.rkey(), region.address())),
    READ_WITHOUT_ITS_WORDS("1204", region -> untagged(LAST, READ_REQUEST, 0, 1, 1, 0, BYTES)),
    SEND_ON_ANOTHER_QUEUE("1201", region -> untagged(LAST, SEND, 0, 1, 1, 0, BYTES)),
    SEND_OUT_OF_ORDER("1203", region -> untagged(LAST, SEND, 0, 0, 2, 0, BYTES)),
    SEND_WITHOUT_ITS_BEGIN("1204", region -> untagged(LAST, SEND, 0, 0, 1, 8, BYTES)),
    SEND_THAT_IS_TOO_LONG(
        "1205", region -> untagged(LAST, SEND, 0, 0, 1, 0, "00".repeat(RECEIVE_BYTES + 4))),
    SEND_WITHOUT_A_RECEIVE("1202", region -> send() + untagged(LAST, SEND, 0, 0, 2, 0, BYTES)),
    SEND_WITH_INVALIDATE_OF_AN_UNKNOWN_TAG(
        "0109", region -> untagged(LAST, 0x44, UNKNOWN_KEY, 0, 1, 0, BYTES)),
    ANSWER_THAT_NOBODY_ASKED_FOR("0206", region -> tagged(0x42, 1, 0)),
    UNKNOWN_OPCODE("0206", region -> untagged(LAST, 0x4f, 0, 0, 1, 0, BYTES)),
    UNKNOWN_VERSION_OF_RDMAP("0205", region -> untagged(LAST, 0x83, 0, 0, 1, 0, BYTES)),
    UNKNOWN_VERSION_OF_DDP("1206", region -> untagged(0x42, SEND, 0, 0, 1, 0, BYTES));

    final String control;

    @SuppressWarnings("ImmutableEnumChecker") // functions, which have no state
    final Function<MemoryRegion, String> fpdus;

    Fault(String control, Function<MemoryRegion, String> fpdus) {
      this.control = control;
      this.fpdus = fpdus;
    }
  }

  @ParameterizedTest
  @EnumSource
  void isToldOfItsFault(Fault fault) throws Exception {
    try (Caller caller = new Caller(ANY);
        ConnectionListener listener = caller.manager.listen(PortSpace.TCP, ANY, 1);
        Socket peer = connect(listener)) {
      QueuePair unused = accept(caller, peer, REQUEST);

      ForeignPeer.write(peer, fault.fpdus.apply(caller.region));

      assertTold(peer, fault.control);
    }
  }

  @Test
  void isToldOfAWrongCrc() throws Exception {
    try (Caller caller = new Caller(ANY);
        ConnectionListener listener =
            caller.manager.listen(PortSpace.TCP, URI.create(ANY + "?crc=true"), 1);
        Socket peer = connect(listener)) {
      QueuePair unused = accept(caller, peer, REQUEST);

      ForeignPeer.write(peer, send());

      assertTold(peer, "2002");
    }
  }

  /** A peer that accepts is told as one that connects. */
  @Test
  void isToldByWhoHasConnected() throws Exception {
    try (Caller caller = new Caller(ANY);
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getByName(Loopbacks.ADDRESS))) {
      server.setSoTimeout(TIMEOUT);
      ConnectionIdentifier active =
          caller.resolve(URI.create("iwarp://" + Loopbacks.ADDRESS + ":" + server.getLocalPort()));
      active.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());
      try (Socket peer = server.accept()) {
        peer.setSoTimeout(TIMEOUT);
        assertThat(ForeignPeer.read(peer, 24)).startsWith(ForeignPeer.hex("MPA ID Req Frame"));
        ForeignPeer.write(peer, REPLY + "1002000400040004");
        caller.expect(ConnectionEvent.Type.ESTABLISHED);

        ForeignPeer.write(peer, write(UNKNOWN_KEY, 0));

        assertTold(peer, INVALID_TAG);
      }
    }
  }

  /** An atomic is done when its answer is sent, where the fault is found. */
  @Test
  void isToldThatTheMemoryOfItsAtomicIsLost() throws Exception {
    try (Caller caller = new Caller(ANY);
        ConnectionListener listener = caller.manager.listen(PortSpace.TCP, ANY, 1);
        Socket peer = connect(listener)) {
      QueuePair unused = accept(caller, peer, EXTENDED_REQUEST);
      ((EmulatedMemoryRegion) caller.region).key().memory().limit(0);

      ForeignPeer.write(
          peer,
          untagged(
              LAST,
              0x4a,
              0,
              1,
              1,
              0,
              hex(0)
                  + hex(1)
                  + hex(caller.region.rkey())
                  + hex(caller.region.address())
                  + BYTES.repeat(4)));

      assertTold(peer, PROTECTION);
    }
  }

  /** Nothing was sent before it, so that the fault is found where the TERMINATE is sent. */
  @Test
  void isToldThatARequestIsBadByItself() throws Exception {
    try (Caller caller = new Caller(ANY);
        ConnectionListener listener = caller.manager.listen(PortSpace.TCP, ANY, 1);
        Socket peer = connect(listener)) {
      QueuePair pair = accept(caller, peer, REQUEST);
      caller.expect(ConnectionEvent.Type.ESTABLISHED);
      ForeignPeer.write(peer, send());
      assertThat(caller.next().status()).isEqualTo(CompletionStatus.SUCCESS);

      pair.postSend(new SendWorkRequest(1).id(2).send().buffer(0x10, 8, UNKNOWN_KEY));

      assertTold(peer, LOCAL);
      assertThat(caller.next().status()).isEqualTo(CompletionStatus.LOC_PROT_ERR);
    }
  }

  /** Who polls drives: there is no other turn between the fault and its completion. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void isToldThoughTheQueuePairIsTakenAwayAtOnce(boolean closes) throws Exception {
    try (Caller caller = new Caller(ANY);
        ConnectionListener listener = caller.manager.listen(PortSpace.TCP, ANY, 1);
        Socket peer = connect(listener)) {
      QueuePair pair = accept(caller, peer, REQUEST);
      IwarpFabric fabric = (IwarpFabric) ((EmulatedDevice) caller.device).fabric();
      fabric.enter();
      try {
        ForeignPeer.write(peer, write(UNKNOWN_KEY, 0));
        ForeignPeer.driveUntil(fabric, pair, QueuePairState.ERR);

        if (closes) {
          pair.close();
        } else {
          pair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        }
      } finally {
        fabric.leave();
      }

      assertTold(peer, INVALID_TAG);
    }
  }

  private static QueuePair accept(Caller caller, Socket peer, String request) throws Exception {
    ForeignPeer.write(peer, request);
    ConnectionIdentifier passive = caller.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
    QueuePair pair = caller.queuePair(passive);
    pair.postReceive(
        new ReceiveWorkRequest(1)
            .id(1)
            .buffer(caller.region.address(), RECEIVE_BYTES, caller.region.lkey()));
    passive.accept(ConnectionParameters.defaults());
    assertThat(ForeignPeer.read(peer, 24)).startsWith(REPLY);
    return pair;
  }

  /** A TERMINATE on its queue, as its first message, and nothing behind it. */
  private static void assertTold(Socket peer, String control) throws IOException {
    int length = HexFormat.fromHexDigits(ForeignPeer.read(peer, 2));
    String told = ForeignPeer.read(peer, length);
    assertThat(told).startsWith("4147" + "00000000" + "00000002" + "00000001" + "00000000");
    assertThat(told.substring(36, 40)).as("layer, type and code").isEqualTo(control);
    assertThat(ForeignPeer.read(peer, (-(length + 2) & 3) + 4)).hasSizeGreaterThanOrEqualTo(8);
    assertThat(isClosed(peer)).isTrue();
  }

  // ---- FPDUs, with the field of a CRC that is not agreed on

  private static String send() {
    return untagged(LAST, SEND, 0, 0, 1, 0, BYTES);
  }

  private static String write(int key, long address) {
    return tagged(0x40, key, address);
  }

  private static String read(int number, int key, long address) {
    String words = hex(1) + hex(0L) + hex(8) + hex(key) + hex(address);
    return untagged(LAST, READ_REQUEST, 0, 1, number, 0, words);
  }

  private static String tagged(int operation, int tag, long offset) {
    return fpdu(hex2(0xc1) + hex2(operation) + hex(tag) + hex(offset) + BYTES);
  }

  private static String untagged(
      int control, int operation, int tag, int queue, int number, int offset, String payload) {
    return fpdu(
        hex2(control)
            + hex2(operation)
            + hex(tag)
            + hex(queue)
            + hex(number)
            + hex(offset)
            + payload);
  }

  /** All of these need no pad. */
  private static String fpdu(String segment) {
    return HexFormat.of().toHexDigits((short) (segment.length() / 2)) + segment + hex(0);
  }

  private static String hex2(int octet) {
    return HexFormat.of().toHexDigits((byte) octet);
  }

  private static String hex(int value) {
    return HexFormat.of().toHexDigits(value);
  }

  private static String hex(long value) {
    return HexFormat.of().toHexDigits(value);
  }
}
