// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Done;
import io.verbena.emulated.engine.TestHost.Region;
import io.verbena.emulated.iwarp.frame.Terminate;
import io.verbena.emulated.iwarp.frame.TerminateCause;
import io.verbena.emulated.iwarp.stream.StreamEngine.State;
import io.verbena.emulated.iwarp.stream.StreamTerms.Role;
import io.verbena.verbs.Access;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.SendWorkRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Atomics and immediate data of a peer whose bytes are written by hand, and mean harm mostly. */
@Tag("once")
class HostileExtensionsTest {
  private static final int IMMEDIATE = 8;
  private static final int REQUEST = 10;
  private static final int RESPONSE = 11;
  private static final int FETCH_ADD = 0;
  private static final long ALL = -1;

  private final TestPipe in = new TestPipe();
  private final TestPipe out = new TestPipe();
  private final StreamEnd end = new StreamEnd(in, out);
  private final Region counter = end.host.register(16);

  private void start(int depth) {
    end.engine.start(new StreamTerms(false, true, depth, depth, Role.ACTIVE));
  }

  @Test
  void servesOneThatMeansWell() throws IOException {
    start(1);
    counter.putLong(8, 5);

    hear(add(1, counter.key, counter.address + 8, 3));

    assertThat(told()).isNull();
    assertThat(counter.getLong(8)).isEqualTo(8);
  }

  @Test
  void addsToFieldsAndSwapsBits() throws IOException {
    start(2);
    counter.putLong(0, 0xffff_ffffL);
    counter.putLong(8, 0x1234_5678L);

    hear(
        request(1, FETCH_ADD, counter.key, counter.address, 1, 1L << 31, 0, 0)
            + request(
                2, 2, counter.key, counter.address + 8, ALL, 0xff, 0x1200_0000L, 0xff00_0000L));

    assertThat(told()).isNull();
    assertThat(counter.getLong(0)).isZero();
    assertThat(counter.getLong(8)).isEqualTo(0x1234_56ffL);
  }

  @Test
  void refusesAnAddressThatIsNotAligned() throws IOException {
    start(4);

    hear(add(1, counter.key, counter.address + 4, 1));

    assertEnded(TerminateCause.UNSPECIFIED_OPERATION, AsyncEvent.Type.QP_REQ_ERR);
  }

  @Test
  void refusesAnAddressBeyondTheRegion() throws IOException {
    start(4);

    hear(add(1, counter.key, counter.address + 16, 1));

    assertEnded(TerminateCause.REMOTE_PROTECTION, AsyncEvent.Type.QP_ACCESS_ERR);
  }

  @Test
  void refusesAnUnknownKey() throws IOException {
    start(4);

    hear(add(1, counter.key + 1, counter.address, 1));

    assertEnded(TerminateCause.REMOTE_PROTECTION, AsyncEvent.Type.QP_ACCESS_ERR);
  }

  @Test
  void refusesARegionWithoutTheRight() throws IOException {
    start(4);
    Region other =
        end.host.register(
            8, Access.LOCAL_WRITE.bit() | Access.REMOTE_WRITE.bit() | Access.REMOTE_READ.bit());

    hear(add(1, other.key, other.address, 1));

    assertEnded(TerminateCause.REMOTE_PROTECTION, AsyncEvent.Type.QP_ACCESS_ERR);
    assertThat(other.getLong(0)).isZero();
  }

  @Test
  void refusesAQueuePairThatAllowsNothing() throws IOException {
    start(4);
    end.forbidsPeers = true;

    hear(add(1, counter.key, counter.address, 1));

    assertEnded(TerminateCause.REMOTE_ACCESS, AsyncEvent.Type.QP_REQ_ERR);
  }

  @Test
  void refusesMoreThanItServesAtOnce() throws IOException {
    start(2);

    hear(
        add(1, counter.key, counter.address, 1)
            + add(2, counter.key, counter.address, 1)
            + add(3, counter.key, counter.address, 1));

    assertEnded(TerminateCause.STREAM_CATASTROPHE, AsyncEvent.Type.QP_REQ_ERR);
  }

  @Test
  void countsThemWithTheReads() throws IOException {
    start(1);
    String read =
        untagged(1, 1, 1, 0, hex(1) + hex(0L) + hex(8) + hex(counter.key) + hex(counter.address));

    hear(read + add(2, counter.key, counter.address, 1));

    assertEnded(TerminateCause.STREAM_CATASTROPHE, AsyncEvent.Type.QP_REQ_ERR);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 15})
  void refusesAnUnknownOperation(int operation) throws IOException {
    start(4);

    hear(request(1, operation, counter.key, counter.address, 1, 0, 0, 0));

    assertEnded(TerminateCause.UNEXPECTED_OPCODE, AsyncEvent.Type.QP_REQ_ERR);
  }

  @ParameterizedTest
  @CsvSource({
    "0, UNTAGGED_MESSAGE_OFFSET",
    "48, UNTAGGED_MESSAGE_OFFSET",
    "53, UNTAGGED_MESSAGE_OFFSET",
    "128, UNTAGGED_MESSAGE_OFFSET",
    "129, UNTAGGED_TOO_LONG",
    "2000, UNTAGGED_TOO_LONG"
  })
  void refusesARequestOfAnotherLength(int length, TerminateCause cause) throws IOException {
    start(4);

    hear(untagged(REQUEST, 1, 1, 0, "00".repeat(length)));

    assertEnded(cause, AsyncEvent.Type.QP_REQ_ERR);
  }

  @Test
  void refusesARequestInParts() throws IOException {
    start(4);
    String whole = add(1, counter.key, counter.address, 1);

    hear(whole.substring(0, 4) + "01" + whole.substring(6));

    assertEnded(TerminateCause.UNTAGGED_MESSAGE_OFFSET, AsyncEvent.Type.QP_REQ_ERR);
  }

  @ParameterizedTest
  @CsvSource({
    "2, 0, UNTAGGED_SEQUENCE",
    "0, 0, UNTAGGED_SEQUENCE",
    "1, 8, UNTAGGED_MESSAGE_OFFSET"
  })
  void refusesARequestOutOfItsPlace(int sequence, int offset, TerminateCause cause)
      throws IOException {
    start(4);
    String payload = payload(FETCH_ADD, 1, counter.key, counter.address, 1, 0, 0, 0);

    hear(untagged(REQUEST, 1, sequence, offset, payload));

    assertEnded(cause, AsyncEvent.Type.QP_REQ_ERR);
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 9, 10, 11})
  void refusesThemUnlessBothEndsHaveThem(int opcode) throws IOException {
    end.engine.start(new StreamTerms(false, 4, 4, Role.ACTIVE));
    end.receive(1, end.host.register(8), 8);
    int queue = opcode == REQUEST ? 1 : opcode == RESPONSE ? 3 : 0;

    hear(untagged(opcode, queue, 1, 0, "00".repeat(8)));

    assertThat(told()).isEqualTo(TerminateCause.UNEXPECTED_OPCODE);
    assertThat(end.host.receivesDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.WR_FLUSH_ERR);
  }

  // ---- responses

  @Test
  void refusesAResponseThatNobodyAskedFor() throws IOException {
    start(4);

    hear(untagged(RESPONSE, 3, 1, 0, hex(1) + hex(5L)));

    assertEnded(TerminateCause.UNEXPECTED_OPCODE, AsyncEvent.Type.QP_REQ_ERR);
  }

  @ParameterizedTest
  @CsvSource({
    "2, 1, 8, BAD_RESP_ERR, UNSPECIFIED_OPERATION", // another request's
    "1, 2, 8, WR_FLUSH_ERR, UNTAGGED_SEQUENCE",
    "1, 1, 4, WR_FLUSH_ERR, UNTAGGED_MESSAGE_OFFSET",
    "1, 1, 12, WR_FLUSH_ERR, UNTAGGED_MESSAGE_OFFSET"
  })
  void refusesAWrongResponse(
      int identifier, int sequence, int length, CompletionStatus status, TerminateCause cause)
      throws IOException {
    start(4);
    end.post(
        new SendWorkRequest(1).id(1).fetchAndAdd(8, 7, 1).buffer(counter.address, 8, counter.key));
    assertThat(end.turn()).isTrue();

    hear(untagged(RESPONSE, 3, sequence, 0, hex(identifier) + "11".repeat(length)));

    assertThat(told()).isEqualTo(cause);
    assertThat(end.host.sendsDone).extracting(Done::status).containsExactly(status);
    assertThat(counter.getLong(0)).isZero();
  }

  @Test
  void refusesAResponseToARead() throws IOException {
    start(4);
    end.post(new SendWorkRequest(1).id(1).read(8, 7).buffer(counter.address, 8, counter.key));
    assertThat(end.turn()).isTrue();

    hear(untagged(RESPONSE, 3, 1, 0, hex(1) + hex(5L)));

    assertThat(told()).isEqualTo(TerminateCause.UNEXPECTED_OPCODE);
    assertThat(counter.getLong(0)).isZero();
  }

  @Test
  void refusesTheAnswerToAReadToAnAtomic() throws IOException {
    start(4);
    end.post(
        new SendWorkRequest(1).id(1).fetchAndAdd(8, 7, 1).buffer(counter.address, 8, counter.key));
    assertThat(end.turn()).isTrue();

    hear("0016c142" + hex(1) + hex(0L) + "1111111111111111" + "00000000");

    assertThat(told()).isEqualTo(TerminateCause.UNEXPECTED_OPCODE);
    assertThat(counter.getLong(0)).isZero();
  }

  @Test
  void failsAnAtomicWhoseResultDiedMeanwhile() throws IOException {
    start(4);
    end.post(
        new SendWorkRequest(1).id(1).fetchAndAdd(8, 7, 1).buffer(counter.address, 8, counter.key));
    assertThat(end.turn()).isTrue();
    assertThat(end.host.forget(counter.key)).isTrue();

    hear(untagged(RESPONSE, 3, 1, 0, hex(1) + hex(5L)));

    assertThat(told()).isEqualTo(TerminateCause.LOCAL);
    assertThat(end.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.LOC_PROT_ERR);
  }

  // ---- immediate data

  @Test
  void takesImmediateDataWithoutAWrite() throws IOException {
    start(4);
    end.receive(1, end.host.register(8), 8);

    hear(untagged(IMMEDIATE, 0, 1, 0, "cafebabe" + "ffffffff"));

    assertThat(told()).isNull();
    assertThat(end.host.receivesDone)
        .extracting(Done::toString)
        .containsExactly("1 SUCCESS RECV_RDMA_WITH_IMM 0");
    assertThat(end.host.receivesDone.get(0).immediate()).isEqualTo(0xcafe_babe);
  }

  @Test
  void refusesImmediateDataWithoutAReceive() throws IOException {
    start(4);

    hear(untagged(IMMEDIATE, 0, 1, 0, "cafebabe" + "00000000"));

    assertEnded(TerminateCause.UNTAGGED_NO_BUFFER, AsyncEvent.Type.QP_REQ_ERR);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 4, 9, 16})
  void refusesImmediateDataOfAnotherLength(int length) throws IOException {
    start(4);

    hear(untagged(IMMEDIATE, 0, 1, 0, "00".repeat(length)));

    assertEnded(TerminateCause.UNTAGGED_MESSAGE_OFFSET, AsyncEvent.Type.QP_REQ_ERR);
  }

  /** It would take the receive of a message that is under way. */
  @Test
  void refusesImmediateDataAmidAMessage() throws IOException {
    start(4);
    end.receive(1, end.host.register(8), 8);

    hear("00160143" + hex(0) + hex(0) + hex(1) + hex(0) + "01020304" + "00000000");
    hear(untagged(IMMEDIATE, 0, 1, 0, "cafebabe" + "00000000"));

    assertThat(told()).isEqualTo(TerminateCause.UNTAGGED_MESSAGE_OFFSET);
    assertThat(end.host.receivesDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.REM_INV_REQ_ERR);
  }

  // ---- bytes

  private void hear(String hex) throws IOException {
    assertThat(in.write(ByteBuffer.wrap(HexFormat.of().parseHex(hex)))).isPositive();
    boolean more = true;
    while (more) {
      more = end.turn();
    }
  }

  /** Why the engine has ended its stream, or null. */
  private @Nullable TerminateCause told() throws IOException {
    ByteBuffer all = ByteBuffer.allocate(out.length());
    assertThat(out.read(all)).isGreaterThanOrEqualTo(-1);
    all.flip();
    @Nullable TerminateCause cause = null;
    for (int at = 0; at < all.limit(); ) {
      int length = 2 + all.getShort(at);
      if ((all.get(at + 3) & 0x0f) == 7) {
        cause = Terminate.parse(all, at + 20, length - 20);
      }
      at += length + (-length & 3) + 4;
    }
    return cause;
  }

  private void assertEnded(TerminateCause cause, AsyncEvent.Type event) throws IOException {
    assertThat(told()).isEqualTo(cause);
    assertThat(end.engine.state()).isEqualTo(State.ENDED);
    assertThat(end.host.events).containsExactly(event);
    assertThat(counter.getLong(0)).isZero();
    assertThat(counter.getLong(8)).isZero();
  }

  private static String add(int sequence, int key, long at, long addend) {
    return request(sequence, FETCH_ADD, key, at, addend, 0, 0, 0);
  }

  private static String request(
      int sequence,
      int operation,
      int key,
      long at,
      long data,
      long mask,
      long compare,
      long compareMask) {
    return untagged(
        REQUEST,
        1,
        sequence,
        0,
        payload(operation, sequence, key, at, data, mask, compare, compareMask));
  }

  private static String payload(
      int operation,
      int identifier,
      int key,
      long at,
      long data,
      long mask,
      long compare,
      long compareMask) {
    return hex(operation)
        + hex(identifier)
        + hex(key)
        + hex(at)
        + hex(data)
        + hex(mask)
        + hex(compare)
        + hex(compareMask);
  }

  private static String untagged(int opcode, int queue, int sequence, int offset, String payload) {
    int length = 18 + payload.length() / 2;
    return HexFormat.of().toHexDigits((short) length)
        + "41"
        + HexFormat.of().toHexDigits((byte) (0x40 | opcode))
        + hex(0)
        + hex(queue)
        + hex(sequence)
        + hex(offset)
        + payload
        + "00".repeat(-(length + 2) & 3)
        + "00000000";
  }

  private static String hex(int value) {
    return HexFormat.of().toHexDigits(value);
  }

  private static String hex(long value) {
    return HexFormat.of().toHexDigits(value);
  }
}
