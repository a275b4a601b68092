// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * FPDUs of RFC 7306, assembled by hand from its figures. Wireshark 4.0 decodes the atomics
 * correctly and confirms their CRCs.
 */
class GoldenExtensionsTest {
  private static final String FETCH_ADD =
      "0046414a"
          + "00000000"
          + "00000001" // QN 1: READ requests
          + "00000001"
          + "00000000"
          + "00000000" // FetchAdd
          + "00000005" // identifier
          + "00000077" // STag
          + "0000000000001008" // TO
          + "000000000000000a" // add data
          + "0000000000000000" // add mask
          + "0000000000000000"
          + "0000000000000000"
          + "10a909d9";
  private static final String COMPARE_SWAP =
      "0046414a"
          + "00000000"
          + "00000001"
          + "00000002"
          + "00000000"
          + "00000002" // CmpSwap
          + "00000006"
          + "00000077"
          + "0000000000001010"
          + "0102030405060708" // swap data
          + "ffffffffffffffff" // swap mask
          + "1112131415161718" // compare data
          + "ffffffffffffffff" // compare mask
          + "df2d4474";
  private static final String RESPONSE =
      "001e414b"
          + "00000000"
          + "00000003" // QN 3
          + "00000001"
          + "00000000"
          + "00000005" // identifier of the request
          + "2122232425262728" // original value
          + "7c0ec050";
  private static final String IMMEDIATE =
      "001a4148"
          + "00000000"
          + "00000000" // QN 0: SENDs
          + "00000004"
          + "00000000"
          + "cafebabe00000000"
          + "a146119a";
  private static final String IMMEDIATE_SOLICITED =
      "001a4149"
          + "00000000"
          + "00000000"
          + "00000005"
          + "00000000"
          + "0000004d00000000"
          + "27f59708";

  private final FpduHeader header = new FpduHeader();

  @ParameterizedTest
  @ValueSource(strings = {FETCH_ADD, COMPARE_SWAP, RESPONSE, IMMEDIATE, IMMEDIATE_SOLICITED})
  void hasTheCrcOfAnotherProgram(String hex) {
    ByteBuffer bytes = bytes(hex);
    int end = bytes.capacity() - FpduLayout.CRC_LENGTH;
    FpduCheck check = new FpduCheck();
    check.on(true);

    check.begin();
    check.take(bytes, 0, end);

    assertThat(check.matches(bytes.getInt(end))).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    FETCH_ADD + ", ATOMIC_REQUEST, 1, 52",
    COMPARE_SWAP + ", ATOMIC_REQUEST, 2, 52",
    RESPONSE + ", ATOMIC_RESPONSE, 1, 12",
    IMMEDIATE + ", IMMEDIATE, 4, 8",
    IMMEDIATE_SOLICITED + ", IMMEDIATE_SOLICITED, 5, 8"
  })
  void readsAndWritesTheHeader(String hex, RdmapOpcode opcode, int sequence, int payloadLength) {
    ByteBuffer bytes = bytes(hex);

    assertThat(header.parse(bytes, 0)).isEqualTo(FpduFault.NONE);

    assertThat(header.opcode()).isEqualTo(opcode);
    assertThat(header.opcode().isExtension()).isTrue();
    assertThat(header.sequence()).isEqualTo(sequence);
    assertThat(header.payloadLength()).isEqualTo(payloadLength);
    ByteBuffer again = ByteBuffer.allocate(FpduLayout.MAX_HEADER);
    header.untagged(opcode, true, 0, sequence, 0, payloadLength).write(again);
    assertThat(hex(again)).isEqualTo(hex.substring(0, 2 * FpduLayout.MAX_HEADER));
  }

  @Test
  void readsAndWritesAnAddition() {
    AtomicRequest request = new AtomicRequest();

    request.parse(bytes(FETCH_ADD), FpduLayout.MAX_HEADER);

    assertThat(request.operation()).isEqualTo(AtomicOperation.FETCH_ADD);
    assertThat(request.identifier()).isEqualTo(5);
    assertThat(request.tag()).isEqualTo(0x77);
    assertThat(request.offset()).isEqualTo(0x1008);
    assertThat(request.data()).isEqualTo(10);
    assertThat(request.isPlain()).isTrue();
    assertThat(written(new AtomicRequest().fetchAndAdd(5, 0x77, 0x1008, 10)))
        .isEqualTo(payload(FETCH_ADD));
  }

  @Test
  void readsAndWritesACompareAndSwap() {
    AtomicRequest request = new AtomicRequest();

    request.parse(bytes(COMPARE_SWAP), FpduLayout.MAX_HEADER);

    assertThat(request.operation()).isEqualTo(AtomicOperation.COMPARE_SWAP);
    assertThat(request.compare()).isEqualTo(0x1112131415161718L);
    assertThat(request.data()).isEqualTo(0x0102030405060708L);
    assertThat(request.isPlain()).isTrue();
    assertThat(
            written(
                new AtomicRequest()
                    .compareAndSwap(6, 0x77, 0x1010, 0x1112131415161718L, 0x0102030405060708L)))
        .isEqualTo(payload(COMPARE_SWAP));
  }

  @Test
  void readsAndWritesAResponse() {
    ByteBuffer bytes = bytes(RESPONSE);
    ByteBuffer again = ByteBuffer.allocate(FpduLayout.ATOMIC_RESPONSE_LENGTH);

    AtomicResponse.write(again, 5, 0x2122232425262728L);

    assertThat(AtomicResponse.identifier(bytes, FpduLayout.MAX_HEADER)).isEqualTo(5);
    assertThat(AtomicResponse.original(bytes, FpduLayout.MAX_HEADER))
        .isEqualTo(0x2122232425262728L);
    assertThat(hex(again)).isEqualTo(payload(RESPONSE));
  }

  @Test
  void readsAndWritesImmediateDataInTheFirstHalf() {
    ByteBuffer again = ByteBuffer.allocate(FpduLayout.IMMEDIATE_LENGTH);

    ImmediateData.write(again, 0xcafe_babe);

    assertThat(ImmediateData.parse(bytes(IMMEDIATE), FpduLayout.MAX_HEADER)).isEqualTo(0xcafe_babe);
    assertThat(hex(again)).isEqualTo(payload(IMMEDIATE));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 4, 15})
  void knowsNoOtherOperation(int code) {
    ByteBuffer bytes = bytes(FETCH_ADD);
    bytes.putInt(FpduLayout.MAX_HEADER, code);
    AtomicRequest request = new AtomicRequest();

    request.parse(bytes, FpduLayout.MAX_HEADER);

    assertThat(request.operation()).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "001a4148000000000000000100000001000000000000000000000000, QUEUE",
    "0046414a0000000000000000000000010000000000000000, QUEUE",
    "001e414b0000000000000001000000010000000000000000, QUEUE",
    "000ec1480000000000000000000000000000000000000000, OPCODE",
    "000ec14a0000000000000000000000000000000000000000, OPCODE",
    "0011414a0000000000000001000000010000000000000000, TOO_SHORT"
  })
  void findsTheFault(String hex, FpduFault fault) {
    assertThat(header.parse(bytes(hex), 0)).isEqualTo(fault);
  }

  private static String written(AtomicRequest request) {
    ByteBuffer into = ByteBuffer.allocate(FpduLayout.ATOMIC_REQUEST_LENGTH);
    request.write(into);
    return hex(into);
  }

  /** Returns the bytes between header and CRC; none of these FPDUs has padding. */
  private static String payload(String fpdu) {
    return fpdu.substring(2 * FpduLayout.MAX_HEADER, fpdu.length() - 2 * FpduLayout.CRC_LENGTH);
  }

  private static String hex(ByteBuffer bytes) {
    byte[] written = new byte[bytes.position()];
    bytes.get(0, written);
    return HexFormat.of().formatHex(written);
  }

  private static ByteBuffer bytes(String hex) {
    return ByteBuffer.wrap(HexFormat.of().parseHex(hex));
  }
}
