// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static io.verbena.emulated.ForeignFpdus.BYTES;
import static io.verbena.emulated.ForeignFpdus.READ_REQUEST;
import static io.verbena.emulated.ForeignFpdus.READ_RESPONSE;
import static io.verbena.emulated.ForeignFpdus.SEND;
import static io.verbena.emulated.ForeignFpdus.SEND_WITH_INVALIDATE;
import static io.verbena.emulated.ForeignFpdus.TAGGED;
import static io.verbena.emulated.ForeignFpdus.UNTAGGED;
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
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import java.io.IOException;
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

  private static final int UNKNOWN_KEY = 0x77;

  /** What can be wrong with an FPDU, and what its sender is told: layer, type and code. */
  private enum Fault {
    WRITE_WITH_AN_UNKNOWN_TAG(INVALID_TAG, region -> write(UNKNOWN_KEY, region.address())),
    WRITE_BEYOND_ITS_REGION(
        INVALID_TAG, region -> write(region.rkey(), region.address() + Caller.SIZE - 4)),
    READ_WITH_AN_UNKNOWN_TAG(PROTECTION, region -> read(1, UNKNOWN_KEY, region.address(), 8)),
    READ_BEYOND_ITS_REGION(
        PROTECTION, region -> read(1, region.rkey(), region.address() + Caller.SIZE - 4, 8)),
    READ_OUT_OF_ORDER("1203", region -> read(2, region.rkey(), region.address(), 8)),
    READ_WITHOUT_ITS_WORDS("1204", region -> request(READ_REQUEST, 1, BYTES)),
    SEND_ON_ANOTHER_QUEUE("1201", region -> untagged(UNTAGGED, SEND, 0, 1, 1, 0, BYTES)),
    SEND_OUT_OF_ORDER("1203", region -> send(SEND, 0, 2, BYTES)),
    SEND_WITHOUT_ITS_BEGIN("1204", region -> untagged(UNTAGGED, SEND, 0, 0, 1, 8, BYTES)),
    SEND_THAT_IS_TOO_LONG(
        "1205", region -> send(SEND, 0, 1, "00".repeat(ForeignClient.RECEIVE_BYTES + 4))),
    SEND_WITHOUT_A_RECEIVE("1202", region -> send() + send(SEND, 0, 2, BYTES)),
    SEND_WITH_INVALIDATE_OF_AN_UNKNOWN_TAG(
        "0109", region -> send(SEND_WITH_INVALIDATE, UNKNOWN_KEY, 1, BYTES)),
    ANSWER_THAT_NOBODY_ASKED_FOR("0206", region -> tagged(TAGGED, READ_RESPONSE, 1, 0)),
    UNKNOWN_OPCODE("0206", region -> send(0x4f, 0, 1, BYTES)),
    UNKNOWN_VERSION_OF_RDMAP("0205", region -> send(0x83, 0, 1, BYTES)),
    UNKNOWN_VERSION_OF_DDP("1206", region -> untagged(UNTAGGED + 1, SEND, 0, 0, 1, 0, BYTES));

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
    try (ForeignClient peer = new ForeignClient()) {
      QueuePair unused = peer.established(REQUEST);

      peer.write(fault.fpdus.apply(peer.caller.region));

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

  /** A peer that accepts is told as one that connects. */
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

  /** An atomic is done when its answer is sent, where the fault is found. */
  @Test
  void isToldThatTheMemoryOfItsAtomicIsLost() throws Exception {
    try (ForeignClient peer = new ForeignClient()) {
      QueuePair unused = peer.established(EXTENDED_REQUEST);
      ((EmulatedMemoryRegion) peer.caller.region).key().memory().limit(0);

      peer.write(atomic(peer.caller.region.rkey(), peer.caller.region.address()));

      assertTold(peer, PROTECTION);
    }
  }

  /** Nothing was sent before it, so that the fault is found where the TERMINATE is sent. */
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

  /** Who polls drives: there is no other turn between the fault and its completion. */
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

  /** A TERMINATE on its queue, as its first message, and nothing behind it. */
  private static void assertTold(ForeignEnd peer, String control) throws IOException {
    int length = HexFormat.fromHexDigits(peer.read(2));
    String told = peer.read(length);
    assertThat(told).startsWith("4147" + "00000000" + "00000002" + "00000001" + "00000000");
    assertThat(told.substring(36, 40)).as("layer, type and code").isEqualTo(control);
    assertThat(peer.read((-(length + 2) & 3) + 4)).hasSizeGreaterThanOrEqualTo(8);
    assertThat(peer.isClosed()).isTrue();
  }
}
