// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import static io.verbena.emulated.iwarp.stream.HostilePeer.FETCH_ADD;
import static io.verbena.emulated.iwarp.stream.HostilePeer.IMMEDIATE;
import static io.verbena.emulated.iwarp.stream.HostilePeer.REQUEST;
import static io.verbena.emulated.iwarp.stream.HostilePeer.RESPONSE;
import static io.verbena.emulated.iwarp.stream.HostilePeer.add;
import static io.verbena.emulated.iwarp.stream.HostilePeer.hex;
import static io.verbena.emulated.iwarp.stream.HostilePeer.payload;
import static io.verbena.emulated.iwarp.stream.HostilePeer.request;
import static io.verbena.emulated.iwarp.stream.HostilePeer.untagged;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Done;
import io.verbena.emulated.engine.TestHost.Region;
import io.verbena.emulated.iwarp.frame.TerminateCause;
import io.verbena.emulated.iwarp.stream.StreamTerms.Role;
import io.verbena.verbs.Access;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.SendWorkRequest;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Atomics and immediate data from a peer with handwritten, mostly malformed bytes. */
@Tag("once")
class HostileExtensionsTest {
  private static final long ALL = -1;

  private final HostilePeer peer = new HostilePeer();
  private final StreamEnd end = peer.end;
  private final Region counter = peer.counter;

  @Test
  void servesOneThatMeansWell() throws IOException {
    counter.putLong(8, 5);

    peer.say(add(1, counter.key, counter.address + 8, 3));

    assertThat(peer.told()).isNull();
    assertThat(counter.getLong(8)).isEqualTo(8);
  }

  @Test
  void addsToFieldsAndSwapsBits() throws IOException {
    counter.putLong(0, 0xffff_ffffL);
    counter.putLong(8, 0x1234_5678L);

    peer.say(
        request(1, FETCH_ADD, counter.key, counter.address, 1, 1L << 31, 0, 0)
            + request(
                2, 2, counter.key, counter.address + 8, ALL, 0xff, 0x1200_0000L, 0xff00_0000L));

    assertThat(peer.told()).isNull();
    assertThat(counter.getLong(0)).isZero();
    assertThat(counter.getLong(8)).isEqualTo(0x1234_56ffL);
  }

  /** A thread of the program repeatedly adds to one field while the peer adds to another. */
  @Test
  void letsOthersHaveTheirTurnWhileAWordIsChangedAllTheTime() throws IOException {
    int changes = 1000;
    AtomicInteger left = new AtomicInteger(changes);
    end.host.beforeSwap =
        () -> {
          if (left.getAndDecrement() > 0) {
            counter.putLong(0, counter.getLong(0) + (1L << 32));
          }
        };
    peer.send(request(1, FETCH_ADD, counter.key, counter.address, 1, 1L << 31, 0, 0));
    assertThat(end.engine.receive(peer.in)).isTrue();

    assertThat(end.engine.send(peer.out)).as("there is more to do").isTrue();

    assertThat(left).hasPositiveValue();
    assertThat(peer.out.length()).isZero();
    while (end.engine.send(peer.out)) {
      assertThat(peer.out.length()).isZero();
    }
    assertThat(peer.out.length()).isPositive();
    assertThat(counter.getLong(0)).isEqualTo((long) changes << 32 | 1);
  }

  @Test
  void refusesAnAddressThatIsNotAligned() throws IOException {
    peer.say(add(1, counter.key, counter.address + 4, 1));

    peer.assertEnded(TerminateCause.UNSPECIFIED_OPERATION, AsyncEvent.Type.QP_REQ_ERR);
  }

  @Test
  void refusesAnAddressBeyondTheRegion() throws IOException {
    peer.say(add(1, counter.key, counter.address + 16, 1));

    peer.assertEnded(TerminateCause.REMOTE_BOUNDS, AsyncEvent.Type.QP_ACCESS_ERR);
  }

  @Test
  void refusesAnUnknownKey() throws IOException {
    peer.say(add(1, counter.key + 1, counter.address, 1));

    peer.assertEnded(TerminateCause.REMOTE_INVALID_TAG, AsyncEvent.Type.QP_ACCESS_ERR);
  }

  @Test
  void refusesARegionWithoutTheRight() throws IOException {
    Region other =
        end.host.register(
            8, Access.LOCAL_WRITE.bit() | Access.REMOTE_WRITE.bit() | Access.REMOTE_READ.bit());

    peer.say(add(1, other.key, other.address, 1));

    peer.assertEnded(TerminateCause.REMOTE_ACCESS, AsyncEvent.Type.QP_ACCESS_ERR);
    assertThat(other.getLong(0)).isZero();
  }

  @Test
  void refusesAQueuePairThatAllowsNothing() throws IOException {
    end.forbidsPeers = true;

    peer.say(add(1, counter.key, counter.address, 1));

    peer.assertEnded(TerminateCause.REMOTE_ACCESS, AsyncEvent.Type.QP_REQ_ERR);
  }

  @Test
  void refusesMoreThanItServesAtOnce() throws IOException {
    peer.say(
        add(1, counter.key, counter.address, 1)
            + add(2, counter.key, counter.address, 1)
            + add(3, counter.key, counter.address, 1));

    peer.assertEnded(TerminateCause.STREAM_CATASTROPHE, AsyncEvent.Type.QP_REQ_ERR);
  }

  @Test
  void countsThemWithTheReads() throws IOException {
    String read =
        untagged(1, 1, 1, 0, hex(1) + hex(0L) + hex(8) + hex(counter.key) + hex(counter.address));

    peer.say(
        read + add(2, counter.key, counter.address, 1) + add(3, counter.key, counter.address, 1));

    peer.assertEnded(TerminateCause.STREAM_CATASTROPHE, AsyncEvent.Type.QP_REQ_ERR);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 15})
  void refusesAnUnknownOperation(int operation) throws IOException {
    peer.say(request(1, operation, counter.key, counter.address, 1, 0, 0, 0));

    peer.assertEnded(TerminateCause.UNEXPECTED_OPCODE, AsyncEvent.Type.QP_REQ_ERR);
  }

  @ParameterizedTest
  @CsvSource({
    "0, STREAM_CATASTROPHE",
    "48, STREAM_CATASTROPHE",
    "53, UNTAGGED_TOO_LONG",
    "128, UNTAGGED_TOO_LONG",
    "129, UNTAGGED_TOO_LONG",
    "2000, UNTAGGED_TOO_LONG"
  })
  void refusesARequestOfAnotherLength(int length, TerminateCause cause) throws IOException {
    peer.say(untagged(REQUEST, 1, 1, 0, "00".repeat(length)));

    peer.assertEnded(cause, AsyncEvent.Type.QP_REQ_ERR);
  }

  @Test
  void refusesARequestInParts() throws IOException {
    String whole = add(1, counter.key, counter.address, 1);

    peer.say(whole.substring(0, 4) + "01" + whole.substring(6));

    peer.assertEnded(TerminateCause.STREAM_CATASTROPHE, AsyncEvent.Type.QP_REQ_ERR);
  }

  @ParameterizedTest
  @CsvSource({
    "2, 0, UNTAGGED_SEQUENCE",
    "0, 0, UNTAGGED_SEQUENCE",
    "1, 8, UNTAGGED_MESSAGE_OFFSET"
  })
  void refusesARequestOutOfItsPlace(int sequence, int offset, TerminateCause cause)
      throws IOException {
    String payload = payload(FETCH_ADD, 1, counter.key, counter.address, 1, 0, 0, 0);

    peer.say(untagged(REQUEST, 1, sequence, offset, payload));

    peer.assertEnded(cause, AsyncEvent.Type.QP_REQ_ERR);
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 9, 10, 11})
  void refusesThemUnlessBothEndsHaveThem(int opcode) throws IOException {
    end.engine.start(new StreamTerms(false, 4, 4, Role.ACTIVE));
    end.receive(1, end.host.register(8), 8);
    int queue = opcode == REQUEST ? 1 : opcode == RESPONSE ? 3 : 0;

    peer.say(untagged(opcode, queue, 1, 0, "00".repeat(8)));

    assertThat(peer.told()).isEqualTo(TerminateCause.UNEXPECTED_OPCODE);
    assertThat(end.host.receivesDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.WR_FLUSH_ERR);
  }

  // ---- responses

  @Test
  void refusesAResponseThatNobodyAskedFor() throws IOException {
    peer.say(untagged(RESPONSE, 3, 1, 0, hex(1) + hex(5L)));

    peer.assertEnded(TerminateCause.UNEXPECTED_OPCODE, AsyncEvent.Type.QP_REQ_ERR);
  }

  @ParameterizedTest
  @CsvSource({
    "2, 1, 8, BAD_RESP_ERR, UNSPECIFIED_OPERATION", // another request's
    "1, 2, 8, WR_FLUSH_ERR, UNTAGGED_SEQUENCE",
    "1, 1, 4, WR_FLUSH_ERR, STREAM_CATASTROPHE",
    "1, 1, 12, WR_FLUSH_ERR, UNTAGGED_TOO_LONG"
  })
  void refusesAWrongResponse(
      int identifier, int sequence, int length, CompletionStatus status, TerminateCause cause)
      throws IOException {
    peer.isAskedToAdd();

    peer.say(untagged(RESPONSE, 3, sequence, 0, hex(identifier) + "11".repeat(length)));

    assertThat(peer.told()).isEqualTo(cause);
    assertThat(end.host.sendsDone).extracting(Done::status).containsExactly(status);
    assertThat(counter.getLong(0)).isZero();
  }

  @Test
  void refusesAResponseToARead() throws IOException {
    end.post(new SendWorkRequest(1).id(1).read(8, 7).buffer(counter.address, 8, counter.key));
    assertThat(end.turn()).isTrue();

    peer.say(untagged(RESPONSE, 3, 1, 0, hex(1) + hex(5L)));

    assertThat(peer.told()).isEqualTo(TerminateCause.UNEXPECTED_OPCODE);
    assertThat(counter.getLong(0)).isZero();
  }

  @Test
  void refusesTheAnswerToAReadToAnAtomic() throws IOException {
    peer.isAskedToAdd();

    peer.say("0016c142" + hex(1) + hex(0L) + "1111111111111111" + "00000000");

    assertThat(peer.told()).isEqualTo(TerminateCause.UNEXPECTED_OPCODE);
    assertThat(counter.getLong(0)).isZero();
  }

  @Test
  void failsAnAtomicWhoseResultDiedMeanwhile() throws IOException {
    peer.isAskedToAdd();
    assertThat(end.host.forget(counter.key)).isTrue();

    peer.say(untagged(RESPONSE, 3, 1, 0, hex(1) + hex(5L)));

    assertThat(peer.told()).isEqualTo(TerminateCause.LOCAL);
    assertThat(end.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.LOC_PROT_ERR);
  }

  // ---- immediate data

  @Test
  void takesImmediateDataWithoutAWrite() throws IOException {
    end.receive(1, end.host.register(8), 8);

    peer.say(untagged(IMMEDIATE, 0, 1, 0, "cafebabe" + "ffffffff"));

    assertThat(peer.told()).isNull();
    assertThat(end.host.receivesDone)
        .extracting(Done::toString)
        .containsExactly("1 SUCCESS RECV_RDMA_WITH_IMM 0");
    assertThat(end.host.receivesDone.get(0).immediate()).isEqualTo(0xcafe_babe);
  }

  @Test
  void refusesImmediateDataWithoutAReceive() throws IOException {
    peer.say(untagged(IMMEDIATE, 0, 1, 0, "cafebabe" + "00000000"));

    peer.assertEnded(TerminateCause.UNTAGGED_NO_BUFFER, AsyncEvent.Type.QP_REQ_ERR);
  }

  @ParameterizedTest
  @CsvSource({
    "0, STREAM_CATASTROPHE",
    "4, STREAM_CATASTROPHE",
    "9, UNTAGGED_TOO_LONG",
    "16, UNTAGGED_TOO_LONG"
  })
  void refusesImmediateDataOfAnotherLength(int length, TerminateCause cause) throws IOException {
    peer.say(untagged(IMMEDIATE, 0, 1, 0, "00".repeat(length)));

    peer.assertEnded(cause, AsyncEvent.Type.QP_REQ_ERR);
  }

  /** It would consume the receive of a message in progress. */
  @Test
  void refusesImmediateDataAmidAMessage() throws IOException {
    end.receive(1, end.host.register(8), 8);

    peer.say("00160143" + hex(0) + hex(0) + hex(1) + hex(0) + "01020304" + "00000000");
    peer.say(untagged(IMMEDIATE, 0, 1, 0, "cafebabe" + "00000000"));

    assertThat(peer.told()).isEqualTo(TerminateCause.UNTAGGED_MESSAGE_OFFSET);
    assertThat(end.host.receivesDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.REM_INV_REQ_ERR);
  }
}
