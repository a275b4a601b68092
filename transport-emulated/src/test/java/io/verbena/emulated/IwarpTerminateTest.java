// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static io.verbena.emulated.ForeignFpdus.BYTES;
import static io.verbena.emulated.ForeignFpdus.READ_REQUEST;
import static io.verbena.emulated.ForeignFpdus.READ_RESPONSE;
import static io.verbena.emulated.ForeignFpdus.SEND;
import static io.verbena.emulated.ForeignFpdus.SEND_WITH_INVALIDATE;
import static io.verbena.emulated.ForeignFpdus.TAGGED;
import static io.verbena.emulated.ForeignFpdus.UNTAGGED;
import static io.verbena.emulated.ForeignFpdus.WRITE;
import static io.verbena.emulated.ForeignFpdus.atomic;
import static io.verbena.emulated.ForeignFpdus.read;
import static io.verbena.emulated.ForeignFpdus.request;
import static io.verbena.emulated.ForeignFpdus.send;
import static io.verbena.emulated.ForeignFpdus.tagged;
import static io.verbena.emulated.ForeignFpdus.untagged;
import static io.verbena.emulated.ForeignFpdus.write;
import static io.verbena.emulated.ForeignPeer.ANY;
import static io.verbena.emulated.ForeignPeer.EXTENDED_REQUEST;
import static io.verbena.emulated.ForeignPeer.REPLY;
import static io.verbena.emulated.ForeignPeer.REQUEST;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedMemoryRegion;
import io.verbena.emulated.iwarp.IwarpFabric;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer reads the reason for the end of its stream, then the end (RFC 5040, section 4.8). */
@Tag("once")
class IwarpTerminateTest {
  private static final String INVALID_TAG = "1100";
  private static final String ACCESS = "0102";
  private static final String PROTECTION = "01ff";
  private static final String LOCAL = "0000";

  private static final int UNKNOWN_KEY = 0x77;

  /** A faulty FPDU, and the layer, type and code that its sender receives. */
  private enum Fault {
    WRITE_WITH_AN_UNKNOWN_TAG(INVALID_TAG, memory -> write(UNKNOWN_KEY, memory.region.address())),
    WRITE_BEYOND_ITS_REGION(
        "1101", memory -> write(memory.region.rkey(), memory.region.address() + Caller.SIZE - 4)),
    WRITE_WITHOUT_THE_RIGHT(ACCESS, memory -> writeTo(memory.readable)),
    WRITE_WITH_A_TAG_OF_ANOTHER_DOMAIN("1102", memory -> writeTo(memory.ofOthers)),
    WRITE_BEYOND_ALL_ADDRESSES("1103", memory -> write(memory.region.rkey(), -4)),
    WRITE_OF_ANOTHER_VERSION_OF_DDP(
        "1104", memory -> tagged(TAGGED + 1, WRITE, memory.region.rkey(), memory.region.address())),

    READ_WITH_AN_UNKNOWN_TAG("0100", memory -> read(1, UNKNOWN_KEY, memory.region.address(), 8)),
    READ_BEYOND_ITS_REGION(
        "0101",
        memory -> read(1, memory.region.rkey(), memory.region.address() + Caller.SIZE - 4, 8)),
    READ_OF_ALMOST_4_GIB(
        "0101", memory -> read(1, memory.region.rkey(), memory.region.address(), -1)),
    READ_WITHOUT_THE_RIGHT(ACCESS, memory -> readOf(memory.writable)),
    READ_WITH_A_TAG_OF_ANOTHER_DOMAIN("0103", memory -> readOf(memory.ofOthers)),
    READ_BEYOND_ALL_ADDRESSES("0104", memory -> read(1, memory.region.rkey(), -4, 8)),
    READ_OUT_OF_ORDER("1203", memory -> read(2, memory.region.rkey(), memory.region.address(), 8)),
    READ_ON_ANOTHER_QUEUE(
        "1201", memory -> untagged(UNTAGGED, READ_REQUEST, 0, 0, 1, 0, BYTES.repeat(4))),
    READ_WITHOUT_ITS_BEGIN("1204", memory -> untagged(UNTAGGED, READ_REQUEST, 0, 1, 1, 8, BYTES)),
    READ_OF_TOO_MANY_WORDS("1205", memory -> request(READ_REQUEST, 1, BYTES.repeat(4))),
    READ_OF_TOO_FEW_WORDS("0207", memory -> request(READ_REQUEST, 1, BYTES)),

    ATOMIC_WITH_AN_UNKNOWN_TAG("0100", memory -> atomic(UNKNOWN_KEY, memory.region.address())),
    ATOMIC_BEYOND_ITS_REGION(
        "0101", memory -> atomic(memory.region.rkey(), memory.region.address() + Caller.SIZE)),
    ATOMIC_WITHOUT_THE_RIGHT(ACCESS, memory -> atomicAt(memory.writable)),
    ATOMIC_WITH_A_TAG_OF_ANOTHER_DOMAIN("0103", memory -> atomicAt(memory.ofOthers)),

    SEND_ON_ANOTHER_QUEUE("1201", memory -> untagged(UNTAGGED, SEND, 0, 1, 1, 0, BYTES)),
    SEND_WITHOUT_A_RECEIVE("1202", memory -> send() + send(SEND, 0, 2, BYTES)),
    SEND_OUT_OF_ORDER("1203", memory -> send(SEND, 0, 2, BYTES)),
    SEND_WITHOUT_ITS_BEGIN("1204", memory -> untagged(UNTAGGED, SEND, 0, 0, 1, 8, BYTES)),
    SEND_THAT_IS_TOO_LONG(
        "1205", memory -> send(SEND, 0, 1, "00".repeat(ForeignClient.RECEIVE_BYTES + 4))),
    SEND_OF_ANOTHER_VERSION_OF_DDP(
        "1206", memory -> untagged(UNTAGGED + 1, SEND, 0, 0, 1, 0, BYTES)),
    SEND_OF_ANOTHER_VERSION_OF_RDMAP("0205", memory -> send(0x83, 0, 1, BYTES)),
    INVALIDATE_OF_AN_UNKNOWN_TAG(
        "0209", memory -> send(SEND_WITH_INVALIDATE, UNKNOWN_KEY, 1, BYTES)),
    INVALIDATE_OF_A_REGION(
        "0209", memory -> send(SEND_WITH_INVALIDATE, memory.region.rkey(), 1, BYTES)),
    INVALIDATE_OF_A_TAG_OF_ANOTHER_DOMAIN(
        "0109", memory -> send(SEND_WITH_INVALIDATE, memory.ofOthers.rkey(), 1, BYTES)),

    ANSWER_THAT_NOBODY_ASKED_FOR("0206", memory -> tagged(TAGGED, READ_RESPONSE, 1, 0)),
    UNKNOWN_OPCODE("0206", memory -> send(0x4f, 0, 1, BYTES)),
    SEND_WITH_A_TAG("0206", memory -> tagged(TAGGED, SEND, 1, 0)),
    WRITE_WITHOUT_A_TAG("0206", memory -> send(WRITE, 0, 1, BYTES));

    final String control;

    @SuppressWarnings("ImmutableEnumChecker") // functions, which have no state
    final Function<Memory, String> fpdus;

    Fault(String control, Function<Memory, String> fpdus) {
      this.control = control;
      this.fpdus = fpdus;
    }

    private static String writeTo(MemoryRegion to) {
      return write(to.rkey(), to.address());
    }

    private static String readOf(MemoryRegion from) {
      return read(1, from.rkey(), from.address(), 8);
    }

    private static String atomicAt(MemoryRegion at) {
      return atomic(at.rkey(), at.address());
    }
  }

  /** Memory regions to which the peer has all rights, some, or none. */
  private static final class Memory implements AutoCloseable {
    final MemoryRegion region;
    final MemoryRegion readable;
    final MemoryRegion writable;
    final MemoryRegion ofOthers;
    private final ProtectionDomain others;

    Memory(Caller caller) {
      region = caller.region;
      readable = register(caller.domain(), Access.REMOTE_READ);
      writable = register(caller.domain(), Access.REMOTE_WRITE);
      others = caller.device.allocateProtectionDomain();
      ofOthers = register(others, Access.REMOTE_READ);
    }

    private static MemoryRegion register(ProtectionDomain domain, Access right) {
      return domain.register(ByteBuffer.allocateDirect(64), EnumSet.of(Access.LOCAL_WRITE, right));
    }

    @Override
    public void close() {
      readable.close();
      writable.close();
      ofOthers.close();
      others.close();
    }
  }

  @ParameterizedTest
  @EnumSource
  void isToldOfItsFault(Fault fault) throws Exception {
    try (ForeignClient peer = new ForeignClient();
        Memory memory = new Memory(peer.caller)) {
      QueuePair unused = peer.established(EXTENDED_REQUEST);

      peer.write(fault.fpdus.apply(memory));

      assertTold(peer, fault.control);
    }
  }

  @Test
  void isToldOfAWrongCrc() throws Exception {
    try (ForeignClient peer = new ForeignClient(URI.create(ANY + "?crc=true"))) {
      QueuePair unused = peer.established(REQUEST);

      peer.write(send());

      assertTold(peer, "2002");
    }
  }

  /** Peers that accept a connection receive a TERMINATE as those that connect do. */
  @Test
  void isToldByWhoHasConnected() throws Exception {
    try (ForeignServer peer = new ForeignServer()) {
      ConnectionIdentifier unused = peer.connect("");
      assertThat(peer.read(24)).startsWith(ForeignPeer.hex("MPA ID Req Frame"));
      peer.write(REPLY + "1002000400040004");
      peer.caller.expect(ConnectionEvent.Type.ESTABLISHED);

      peer.write(write(UNKNOWN_KEY, 0));

      assertTold(peer, INVALID_TAG);
    }
  }

  /** An atomic runs when its response is sent, so the fault is found at that point. */
  @Test
  void isToldThatTheMemoryOfItsAtomicIsLost() throws Exception {
    try (ForeignClient peer = new ForeignClient()) {
      QueuePair unused = peer.established(EXTENDED_REQUEST);
      ((EmulatedMemoryRegion) peer.caller.region).key().memory().limit(0);

      peer.write(atomic(peer.caller.region.rkey(), peer.caller.region.address()));

      assertTold(peer, PROTECTION);
    }
  }

  /** The first READ has the sink tag 1. */
  @ParameterizedTest
  @CsvSource({"2, 0, 1100", "1, 4, 1101"})
  void isToldThatItsAnswerIsWrong(int tag, long offset, String control) throws Exception {
    try (ForeignClient peer = new ForeignClient()) {
      QueuePair pair = peer.established(REQUEST);
      peer.write(send());
      assertThat(peer.caller.next().status()).isEqualTo(CompletionStatus.SUCCESS);
      pair.postSend(
          new SendWorkRequest(1)
              .read(8, UNKNOWN_KEY)
              .buffer(peer.caller.region.address(), 8, peer.caller.region.lkey()));
      assertThat(peer.read(52)).startsWith("002e" + "4141");

      peer.write(tagged(TAGGED, READ_RESPONSE, tag, offset));

      assertTold(peer, control);
      assertThat(peer.caller.next().status()).isEqualTo(CompletionStatus.BAD_RESP_ERR);
    }
  }

  /** With nothing sent before, the fault is found at the point where the TERMINATE is sent. */
  @Test
  void isToldThatARequestIsBadByItself() throws Exception {
    try (ForeignClient peer = new ForeignClient()) {
      QueuePair pair = peer.established(REQUEST);
      peer.write(send());
      assertThat(peer.caller.next().status()).isEqualTo(CompletionStatus.SUCCESS);

      pair.postSend(new SendWorkRequest(1).id(2).send().buffer(0x10, 8, UNKNOWN_KEY));

      assertTold(peer, LOCAL);
      assertThat(peer.caller.next().status()).isEqualTo(CompletionStatus.LOC_PROT_ERR);
    }
  }

  /** The test drives the fabric, so no other turn runs between the fault and the close or reset. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void isToldThoughTheQueuePairIsTakenAwayAtOnce(boolean closes) throws Exception {
    try (ForeignClient peer = new ForeignClient()) {
      QueuePair pair = peer.established(REQUEST);
      IwarpFabric fabric = fabric(peer.caller);
      fabric.enter();
      try {
        peer.write(write(UNKNOWN_KEY, 0));
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

  private static IwarpFabric fabric(Caller caller) {
    return (IwarpFabric) ((EmulatedDevice) caller.device).fabric();
  }

  /** Asserts that the peer reads a TERMINATE, the first message of its queue, and then the end. */
  private static void assertTold(ForeignEnd peer, String control) throws IOException {
    int length = HexFormat.fromHexDigits(peer.read(2));
    String told = peer.read(length);
    assertThat(told).startsWith("4147" + "00000000" + "00000002" + "00000001" + "00000000");
    assertThat(told.substring(36, 40)).as("layer, type and code").isEqualTo(control);
    assertThat(peer.read((-(length + 2) & 3) + 4)).hasSizeGreaterThanOrEqualTo(8);
    assertThat(peer.isClosed()).isTrue();
  }
}
