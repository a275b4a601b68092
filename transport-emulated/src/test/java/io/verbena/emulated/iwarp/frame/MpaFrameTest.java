// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.emulated.iwarp.frame.MpaFrame.Depths;
import io.verbena.emulated.iwarp.frame.MpaFrame.Kind;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the frames of the MPA handshake. */
class MpaFrameTest {
  private static final String REQUEST = "4d504120494420526571204672616d655002000400040004";
  private static final String REPLY = "4d504120494420526570204672616d651002000400010001";

  @Test
  void readsTheRequestOfSiw() {
    MpaFrame frame = MpaFrame.parse(Kind.REQUEST, bytes(REQUEST));

    assertThat(frame.revision()).isEqualTo(2);
    assertThat(frame.crc()).isTrue();
    assertThat(frame.markers()).isFalse();
    assertThat(frame.depths()).isEqualTo(Depths.of(4, 4));
    assertThat(frame.privateData().remaining()).isZero();
    assertThat(HexFormat.of().formatHex(frame.bytes().array())).isEqualTo(REQUEST);
  }

  @Test
  void readsTheReplyOfSiw() {
    MpaFrame frame = MpaFrame.parse(Kind.REPLY, bytes(REPLY));

    assertThat(frame.crc()).isFalse();
    assertThat(frame.rejects()).isFalse();
    assertThat(frame.depths()).isEqualTo(Depths.of(1, 1));
    assertThat(HexFormat.of().formatHex(frame.bytes().array())).isEqualTo(REPLY);
  }

  @Test
  void carriesWhatItIsGiven() {
    MpaFrame frame =
        new MpaFrame(
            Kind.REPLY,
            2,
            true,
            true,
            true,
            true,
            Depths.of(0x3fff, 7).readyByRead(),
            ByteBuffer.wrap("hello".getBytes(US_ASCII)));

    assertThat(MpaFrame.parse(Kind.REPLY, frame.bytes())).isEqualTo(frame);
  }

  /** siw copies the flags of the request into its reply. */
  @Test
  void doesNotTakeAnEchoForTheWordOfThePeer() {
    MpaFrame asks =
        new MpaFrame(
            Kind.REQUEST, 2, false, false, false, true, Depths.of(4, 4), ByteBuffer.allocate(0));
    ByteBuffer echo = bytes(REPLY);
    echo.put(MpaLayout.FLAGS_OFFSET, asks.bytes().get(MpaLayout.FLAGS_OFFSET));

    assertThat(MpaFrame.parse(Kind.REQUEST, asks.bytes())).isEqualTo(asks);
    assertThat(MpaFrame.parse(Kind.REPLY, echo).extensions()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"12, true", "1a, true", "10, false", "14, false", "16, false", "17, false"})
  void readsWhetherThePeerHasExtensions(String flags, boolean extensions) {
    ByteBuffer reply = bytes(REPLY);
    reply.put(MpaLayout.FLAGS_OFFSET, (byte) Integer.parseInt(flags, 16));

    MpaFrame frame = MpaFrame.parse(Kind.REPLY, reply);

    assertThat(frame.extensions()).isEqualTo(extensions);
    assertThat(MpaFrame.parse(Kind.REPLY, frame.bytes())).isEqualTo(frame);
  }

  @Test
  void knowsItsLengthFromItsHeader() {
    ByteBuffer bytes = bytes(REQUEST);

    assertThat(MpaFrame.length(bytes)).isEqualTo(bytes.capacity());
  }

  @Test
  void isTooShortUntilItsLastByte() {
    ByteBuffer bytes = bytes(REQUEST);
    for (int length = 0; length < bytes.capacity(); length++) {
      assertThat(MpaFrame.check(Kind.REQUEST, bytes.slice(0, length)))
          .as("the first %d bytes", length)
          .isEqualTo(MpaFault.TOO_SHORT);
    }
    assertThat(MpaFrame.check(Kind.REQUEST, bytes)).isEqualTo(MpaFault.NONE);
  }

  @ParameterizedTest
  @CsvSource({
    "48545450, KEY",
    "4d504120494420526570204672616d651002000400010001, KEY",
    "4d504120494420526571204672616d655003000400040004, REVISION",
    "4d504120494420526571204672616d655002020100040004, PRIVATE_LENGTH",
    "4d504120494420526571204672616d655002000300040004, DEPTHS"
  })
  void findsTheFault(String hex, MpaFault fault) {
    assertThat(MpaFrame.check(Kind.REQUEST, bytes(hex))).isEqualTo(fault);
    assertThatThrownBy(() -> MpaFrame.parse(Kind.REQUEST, bytes(hex)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(fault.name());
  }

  @Test
  void takesAnyBytes() {
    SplittableRandom random = new SplittableRandom(7);
    byte[] bytes = HexFormat.of().parseHex(REQUEST);
    for (int round = 0; round < 20_000; round++) {
      byte[] changed = bytes.clone();
      for (int i = 0; i < 3; i++) {
        changed[random.nextInt(changed.length)] = (byte) random.nextInt();
      }
      ByteBuffer some = ByteBuffer.wrap(changed, 0, random.nextInt(changed.length + 1));

      if (MpaFrame.check(Kind.REQUEST, some) == MpaFault.NONE) {
        assertThat(MpaFrame.parse(Kind.REQUEST, some).privateData().remaining())
            .isLessThanOrEqualTo(MpaLayout.MAX_PRIVATE_LENGTH);
      }
    }
  }

  private static ByteBuffer bytes(String hex) {
    return ByteBuffer.wrap(HexFormat.of().parseHex(hex));
  }
}
