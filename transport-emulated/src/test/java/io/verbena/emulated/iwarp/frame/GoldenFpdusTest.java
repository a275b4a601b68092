// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** FPDUs that siw of Linux 6.1 sent or accepted. */
class GoldenFpdusTest {
  private static final String SEND =
      "001541430000000000000000000000010000000053203500" + "1042540a";
  private static final String READ_REQUEST =
      "002e41410000000000000001000000010000000000000077000000000000000000000020ee3358000000"
          + "55792909e000"
          + "4c9210ac";
  private static final String WRITE = "000ec140000000000000000000000000" + "a30572ab";
  private static final String BAD_CRC =
      "001641470000000000000002000000010000000002020000" + "75d367ed";
  private static final String BAD_TAG =
      "0026414700000000000000020000000100000000110003000005c1405586110000005579292af000"
          + "0870e7cb";

  private final FpduHeader header = new FpduHeader();

  @ParameterizedTest
  @ValueSource(
      strings = {
        SEND,
        "0012414300000000000000000000000100000000" + "587be8c4",
        "00184145000000000000000000000002000000003334353637386f6d" + "4000d0bd",
        "001741440077770000000000000000010000000068656c6c6f000000" + "333b76f3",
        WRITE,
        READ_REQUEST,
        "000ec142000000770000000000000000" + "9f366843",
        BAD_CRC,
        BAD_TAG
      })
  void hasTheCrcThatSiwPutThere(String hex) {
    ByteBuffer bytes = bytes(hex);
    FpduCheck check = new FpduCheck();
    check.on(true);

    check.begin();
    check.take(bytes, 0, bytes.capacity() - FpduLayout.CRC_LENGTH);

    assertThat(check.matches(bytes.getInt(bytes.capacity() - FpduLayout.CRC_LENGTH))).isTrue();
  }

  @Test
  void seesThatAByteIsNotAsSent() {
    ByteBuffer bytes = bytes(SEND);
    int end = bytes.capacity() - FpduLayout.CRC_LENGTH;
    bytes.put(end - 1, (byte) 1);
    FpduCheck check = new FpduCheck();
    check.on(true);

    check.begin();
    check.take(bytes, 0, end);

    assertThat(check.matches(bytes.getInt(end))).isFalse();
  }

  @Test
  void looksAtNoCrcWhereThereIsNone() {
    FpduCheck check = new FpduCheck();

    check.begin();

    assertThat(check.field()).isZero();
    assertThat(check.matches(0x1234)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "001541430000000000000000000000010000000053203500, SEND, true, 0, 3",
    "0012414300000000000000000000000100000000, SEND, true, 0, 0",
    "00184145000000000000000000000002000000003334353637386f6d, SEND_SOLICITED, true, 0, 6",
    "001741440077770000000000000000010000000068656c6c6f000000, SEND_WITH_INVALIDATE, true, 7829248, 5",
    "000ec140000000000000000000000000, WRITE, true, 0, 0",
    "000ec142000000770000000000000000, READ_RESPONSE, true, 119, 0"
  })
  void readsAndWritesTheHeader(
      String hex, RdmapOpcode opcode, boolean last, int tag, int payloadLength) {
    ByteBuffer bytes = bytes(hex);

    assertThat(header.parse(bytes, 0)).isEqualTo(FpduFault.NONE);

    assertThat(header.opcode()).isEqualTo(opcode);
    assertThat(header.isLast()).isEqualTo(last);
    assertThat(header.tag()).isEqualTo(tag);
    assertThat(header.payloadLength()).isEqualTo(payloadLength);
    assertThat(written(header)).isEqualTo(hex.substring(0, 2 * FpduHeader.length(bytes, 0)));
  }

  @Test
  void readsAndWritesARequestToRead() {
    ByteBuffer bytes = bytes(READ_REQUEST);
    ReadRequest request = new ReadRequest();

    assertThat(header.parse(bytes, 0)).isEqualTo(FpduFault.NONE);
    request.parse(bytes, FpduHeader.length(bytes, 0));

    assertThat(header.payloadLength()).isEqualTo(FpduLayout.READ_REQUEST_LENGTH);
    assertThat(request.sinkTag()).isEqualTo(0x77);
    assertThat(request.length()).isEqualTo(32);
    assertThat(request.sourceTag()).isEqualTo(0xee335800);
    assertThat(request.sourceOffset()).isEqualTo(0x55792909e000L);
    ByteBuffer again = ByteBuffer.allocate(FpduLayout.READ_REQUEST_LENGTH);
    request.write(again);
    assertThat(HexFormat.of().formatHex(again.array())).isEqualTo(READ_REQUEST.substring(40, 96));
  }

  @ParameterizedTest
  @CsvSource({
    "02020000, CRC", // siw's order of fields, and no flag
    "20020000, CRC", // the RFC's order
    "1100c000, TAGGED_INVALID_TAG",
    "1101c000, TAGGED_BOUNDS",
    "21020000, UNTAGGED_NO_BUFFER", // siw's order
    "1202c000, UNTAGGED_NO_BUFFER",
    "2107e000, UNKNOWN",
    "20070000, READY_MESSAGE", // ambiguous without a flag; the parser tries the RFC's order first
    "20070300, STREAM_CATASTROPHE",
    "0207c000, STREAM_CATASTROPHE"
  })
  void readsTheCauseInTheOrderOfTheRfcAndInThatOfSiw(String hex, TerminateCause cause) {
    assertThat(Terminate.parse(bytes(hex), 0, 4)).isEqualTo(cause);
  }

  @Test
  void readsWhySiwEndedAStream() {
    assertThat(Terminate.parse(bytes(BAD_CRC), 20, 4)).isEqualTo(TerminateCause.CRC);
    assertThat(Terminate.parse(bytes(BAD_TAG), 20, 20))
        .isEqualTo(TerminateCause.TAGGED_INVALID_TAG);
    assertThat(Terminate.parse(bytes(BAD_TAG), 20, 3)).isEqualTo(TerminateCause.UNKNOWN);
  }

  @Test
  void writesWhyItEndsAStreamAsTheRfcSays() {
    ByteBuffer into = ByteBuffer.allocate(Terminate.MAX_LENGTH);
    header.tagged(RdmapOpcode.WRITE, true, 0x55861100, 0x5579292af000L, 5);

    int length = Terminate.write(TerminateCause.TAGGED_INVALID_TAG, header, into, 0);

    assertThat(HexFormat.of().formatHex(into.array(), 0, length))
        .isEqualTo("1100c000" + "0013" + "c140" + "55861100" + "00005579292af000");
  }

  @ParameterizedTest
  @CsvSource({
    "0010414300000000000000000000000100000000, TOO_SHORT",
    "000dc140000000000000000000000000, TOO_SHORT",
    "0012424300000000000000000000000100000000, UNTAGGED_VERSION",
    "000ec040000000000000000000000000, TAGGED_VERSION",
    "0012418300000000000000000000000100000000, RDMAP_VERSION",
    "0012414c00000000000000000000000100000000, OPCODE",
    "000ec143000000000000000000000000, OPCODE",
    "0012414000000000000000000000000100000000, OPCODE",
    "0012414300000000000000010000000100000000, QUEUE"
  })
  void findsTheFault(String hex, FpduFault fault) {
    assertThat(header.parse(bytes(hex), 0)).isEqualTo(fault);
  }

  private static ByteBuffer bytes(String hex) {
    return ByteBuffer.wrap(HexFormat.of().parseHex(hex));
  }

  private static String written(FpduHeader header) {
    ByteBuffer into = ByteBuffer.allocate(FpduLayout.MAX_HEADER);
    header.write(into);
    return HexFormat.of().formatHex(into.array(), 0, into.position());
  }
}
