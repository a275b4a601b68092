// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static io.verbena.emulated.ForeignPeer.ANY;
import static io.verbena.emulated.ForeignPeer.EXTENDED_REQUEST;
import static io.verbena.emulated.ForeignPeer.REPLY;
import static io.verbena.emulated.ForeignPeer.REQUEST;
import static io.verbena.emulated.ForeignPeer.hex;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Peers whose bytes the test writes: those of the kernel's siw, and malformed ones. */
@Tag("once")
class IwarpForeignPeerTest {
  private static final String SEND =
      "001541430000000000000000000000010000000053203500" + "00000000";

  @Test
  void isServedAsSiw() throws Exception {
    try (ForeignClient peer = new ForeignClient()) {
      Caller caller = peer.caller;
      peer.write(REQUEST);
      ConnectionEvent request = caller.expect(ConnectionEvent.Type.CONNECT_REQUEST);
      assertThat(request.responderResources()).isEqualTo(4);
      QueuePair pair = peer.accept(request, ByteBuffer.wrap("hi".getBytes(US_ASCII)));
      caller.expect(ConnectionEvent.Type.ESTABLISHED);

      assertThat(peer.read(26)).isEqualTo(REPLY + "1002000600040004" + hex("hi"));
      pair.postSend(
          new SendWorkRequest(1)
              .id(2)
              .send()
              .buffer(caller.region.address(), 4, caller.region.lkey()));
      peer.write(SEND);
      WorkCompletion done = caller.next();

      assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
      assertThat(done.byteLength()).isEqualTo(3);
      // The passive end sends nothing before the peer's first message has arrived.
      assertThat(peer.read(28)).startsWith("00164143" + "00000000" + "00000000" + "00000001");
    }
  }

  @Test
  void isAskedForNoMoreReadsThanItServes() throws Exception {
    try (ForeignClient peer = new ForeignClient()) {
      QueuePair unused = peer.accepted(hex("MPA ID Req Frame") + "1002000400010001");

      assertThat(peer.read(24)).isEqualTo(REPLY + "1002000400040001");
    }
  }

  @Test
  void makesReadyByAnEmptyReadAlsoIfTheProgramServesNone() throws Exception {
    try (ForeignClient peer = new ForeignClient()) {
      peer.write(hex("MPA ID Req Frame") + "1002000480044004");
      QueuePair unused =
          peer.accept(
              peer.caller.expect(ConnectionEvent.Type.CONNECT_REQUEST),
              new ConnectionParameters(ByteBuffer.allocate(0), 0, 4, 7, 7));
      assertThat(peer.read(24)).isEqualTo(REPLY + "1002000480014004");

      peer.write(ForeignFpdus.read(1, 0, 0, 0));

      assertThat(peer.read(20)).startsWith("000ec142" + "00000001");
      peer.caller.expect(ConnectionEvent.Type.ESTABLISHED);
    }
  }

  @Test
  void isServedWithoutWordsForTheDepths() throws Exception {
    try (ForeignClient peer = new ForeignClient()) {
      QueuePair unused = peer.accepted(hex("MPA ID Req Frame") + "00010000");

      assertThat(peer.read(20)).isEqualTo(REPLY + "00010000");
    }
  }

  @Test
  void hasItsAtomicsAndImmediateDataServed() throws Exception {
    try (ForeignClient peer = new ForeignClient()) {
      QueuePair pair = peer.accepted(EXTENDED_REQUEST);
      assertThat(peer.read(24)).isEqualTo(REPLY + "1202000400040004");
      Caller caller = peer.caller;
      long counter = caller.region.address() + 128;
      caller.bytes.order(ByteOrder.nativeOrder()).putLong(128, 5);

      peer.write(
          "0046414a"
              + "00000000"
              + "00000001"
              + "00000001"
              + "00000000"
              + "00000000"
              + "00000009"
              + HexFormat.of().toHexDigits(caller.region.rkey())
              + HexFormat.of().toHexDigits(counter)
              + "0000000000000002"
              + "00".repeat(24)
              + "00000000");

      assertThat(peer.read(36))
          .isEqualTo(
              "001e414b"
                  + "00000000"
                  + "00000003"
                  + "00000001"
                  + "00000000"
                  + "00000009"
                  + "0000000000000005"
                  + "00000000");
      assertThat(caller.bytes.getLong(128)).isEqualTo(7);
      peer.write("001a4148" + "00".repeat(8) + "00000001" + "00000000" + "0000004d00000000");
      peer.write("00000000");
      WorkCompletion done = caller.next();
      assertThat(done.opcode()).isEqualTo(CompletionOpcode.RECV_RDMA_WITH_IMM);
      assertThat(done.immediate()).isEqualTo(77);
      assertThat(pair.supports(Capability.ATOMICS)).isTrue();
      assertThat(pair.supports(Capability.IMMEDIATE_DATA)).isTrue();
    }
  }

  /** Like siw, this peer copies flags of the request; the copies announce no extension. */
  @ParameterizedTest
  @ValueSource(strings = {"1002", "1402"})
  void isAskedForNothingThatItDoesNotHave(String flags) throws Exception {
    try (ForeignServer peer = new ForeignServer()) {
      QueuePair pair = Objects.requireNonNull(peer.connect("").queuePair());
      assertThat(pair.supports(Capability.ATOMICS)).isTrue();
      assertThat(peer.read(24)).startsWith(hex("MPA ID Req Frame") + "14020004");
      peer.write(REPLY + flags + "000400040004");
      peer.caller.expect(ConnectionEvent.Type.ESTABLISHED);

      assertRefused(pair, new SendWorkRequest(0).writeWithImmediate(0, 0, 1));
      assertRefused(pair, new SendWorkRequest(1).fetchAndAdd(8, 1, 1));
      assertRefused(pair, new SendWorkRequest(1).compareAndSwap(8, 1, 1, 2));

      assertThat(pair.supports(Capability.ATOMICS)).isFalse();
      assertThat(pair.supports(Capability.IMMEDIATE_DATA)).isFalse();
      assertThat(pair.supports(Capability.SEND_WITH_INVALIDATE)).isTrue();
      assertThat(pair.state()).isEqualTo(QueuePairState.RTS);
    }
  }

  private static void assertRefused(QueuePair pair, SendWorkRequest request) {
    assertThatThrownBy(() -> pair.postSend(request.id(3)))
        .isInstanceOfSatisfying(
            PostException.class,
            e -> {
              assertThat(e.error()).isEqualTo(VerbsError.NOT_SUPPORTED);
              assertThat(e.workRequestId()).isEqualTo(3);
            })
        .hasMessageContaining("opcode: " + request.opcode() + ", which the peer does not have");
  }

  @Test
  void isToldOfNoExtensionsWhereTheAddressSaysSo() throws Exception {
    URI without = URI.create(ANY + "?extensions=false");
    try (ForeignClient peer = new ForeignClient(without)) {
      QueuePair pair = peer.accepted(EXTENDED_REQUEST);

      assertThat(peer.read(24)).isEqualTo(REPLY + "1002000400040004");
      assertThat(pair.supports(Capability.ATOMICS)).isFalse();
    }
  }

  @Test
  void isAskedForNoExtensionsWhereTheAddressSaysSo() throws Exception {
    try (ForeignServer peer = new ForeignServer()) {
      ConnectionIdentifier unused = peer.connect("?extensions=false");

      assertThat(peer.read(24)).startsWith(hex("MPA ID Req Frame") + "10020004");
    }
  }

  /** A peer that has not announced the extensions must not send atomics. */
  @Test
  void isEndedIfItSendsAnAtomicAllTheSame() throws Exception {
    try (ForeignClient peer = new ForeignClient()) {
      QueuePair unused = peer.accepted(REQUEST);
      assertThat(peer.read(24)).isEqualTo(REPLY + "1002000400040004");

      peer.write("0046414a" + "00000000" + "00000001" + "00000001" + "00".repeat(60));

      // TERMINATE: RDMAP, remote operation, unexpected opcode.
      assertThat(peer.read(28)).endsWith("0206" + "0000" + "00000000");
      assertThat(peer.isClosed()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "474554202f20485454502f312e310d0a0d0a", // GET / HTTP/1.1
        "4d504120494420526570204672616d651002000400010001", // a reply
        "4d504120494420526571204672616d651003000400040004", // revision 3
        "4d504120494420526571204672616d651002000300040004" // no room for the words
      })
  void isClosedThatDoesNotSpeakMpa(String bytes) throws Exception {
    try (ForeignClient peer = new ForeignClient()) {
      peer.write(bytes);

      assertThat(peer.isClosed()).isTrue();
      assertThat(peer.caller.manager.await(0)).isNull();
    }
  }

  @Test
  void isRejectedThatWantsMarkers() throws Exception {
    try (ForeignClient peer = new ForeignClient()) {
      peer.write(hex("MPA ID Req Frame") + "9002000400040004");

      assertThat(peer.read(24)).isEqualTo(REPLY + "3002000400000000");
      assertThat(peer.isClosed()).isTrue();
    }
  }

  @Test
  void hearsWhyItsStreamEnds() throws Exception {
    try (ForeignClient peer = new ForeignClient()) {
      QueuePair unused = peer.accepted(REQUEST);
      assertThat(peer.read(24)).startsWith(REPLY);

      peer.write("0016c1400000007700000000000010000102030405060708" + "00000000");

      // TERMINATE: DDP, tagged buffer, invalid STag; includes the header of the faulty segment.
      assertThat(peer.read(44))
          .isEqualTo(
              "00264147"
                  + "00000000"
                  + "00000002"
                  + "00000001"
                  + "00000000"
                  + "1100c000"
                  + "0016"
                  + "c140"
                  + "00000077"
                  + "0000000000001000"
                  + "00000000");
      assertThat(peer.isClosed()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"485454502f312e3120343030", "4d504120494420526570204672616d658002000400010001"})
  void isNotConnectedToThatAnswersOtherwise(String answer) throws Exception {
    try (ForeignServer peer = new ForeignServer()) {
      ConnectionIdentifier unused = peer.connect("");
      assertThat(peer.read(24)).startsWith(hex("MPA ID Req Frame") + "14020004" + "8010" + "8010");

      peer.write(answer);

      assertThat(peer.caller.expect(ConnectionEvent.Type.REJECTED).status()).isEqualTo(-104);
      assertThat(peer.isClosed()).isTrue();
    }
  }
}
