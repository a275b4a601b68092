// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.RemoteMemory.Right;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RemoteMemoryTest {
  private static final RemoteMemory TOKEN =
      new RemoteMemory(0xfeed_0000_1234L, 1L << 40, 0xcafe_babe, Set.of(Right.READ, Right.ATOMIC));

  @Test
  void travelsInAMessage() {
    ByteBuf message = Unpooled.buffer();
    TOKEN.encode(message);

    assertThat(message.readableBytes()).isEqualTo(RemoteMemory.ENCODED_LENGTH);
    assertThat(RemoteMemory.decode(message)).isEqualTo(TOKEN);
    assertThat(message.isReadable()).isFalse();
  }

  @Test
  void keepsEveryCombinationOfRights() {
    for (Set<Right> rights :
        Set.of(
            Set.<Right>of(),
            Set.of(Right.READ),
            Set.of(Right.WRITE),
            Set.of(Right.ATOMIC),
            Set.of(Right.READ, Right.WRITE),
            Set.of(Right.values()))) {
      ByteBuf message = Unpooled.buffer();
      new RemoteMemory(1, 2, 3, rights).encode(message);
      assertThat(RemoteMemory.decode(message).rights()).isEqualTo(rights);
    }
  }

  @ParameterizedTest
  @CsvSource({"0, magic", "1, version", "2, rights", "3, rights", "12, length"})
  void namesTheFieldThatIsMalformed(int offset, String field) {
    ByteBuf message = Unpooled.buffer();
    TOKEN.encode(message);
    message.setByte(offset, 0xff);

    assertThatThrownBy(() -> RemoteMemory.decode(message))
        .isInstanceOf(MalformedTokenException.class)
        .hasMessageContaining(field);
    assertThat(message.readerIndex()).isZero();
  }

  @Test
  void rejectsATokenThatIsTooShort() {
    ByteBuf message = Unpooled.buffer();
    TOKEN.encode(message);
    for (int length = 0; length < RemoteMemory.ENCODED_LENGTH; length++) {
      ByteBuf part = message.slice(0, length);
      assertThatThrownBy(() -> RemoteMemory.decode(part))
          .isInstanceOf(MalformedTokenException.class)
          .hasMessageContaining("bytes: " + part.readableBytes());
    }
  }

  @Test
  void randomBytesAreATokenOrAMalformedToken() {
    Random random = new Random(42);
    byte[] bytes = new byte[RemoteMemory.ENCODED_LENGTH];
    int tokens = 0;
    for (int i = 0; i < 200_000; i++) {
      random.nextBytes(bytes);
      bytes[0] = 0x52;
      bytes[1] = 1;
      bytes[2] = 0;
      try {
        RemoteMemory token = RemoteMemory.decode(Unpooled.wrappedBuffer(bytes));
        assertThat(token.length()).isNotNegative();
        tokens++;
      } catch (MalformedTokenException e) {
        assertThat(e).hasMessageContaining("expected");
      }
    }
    assertThat(tokens).isPositive();
  }

  @Test
  void slicesWithinItsBounds() {
    RemoteMemory part = TOKEN.slice(4096, 1L << 39);

    assertThat(part.address()).isEqualTo(TOKEN.address() + 4096);
    assertThat(part.length()).isEqualTo(1L << 39);
    assertThat(TOKEN.slice(TOKEN.length(), 0).length()).isZero();
  }

  @ParameterizedTest
  @CsvSource({"-1, 1", "0, -1", "0, 101", "100, 1", "101, 0", "9223372036854775807, 2"})
  void rejectsASliceBeyondItsBounds(long offset, long length) {
    RemoteMemory token = new RemoteMemory(0, 100, 1, Set.of());
    assertThatThrownBy(() -> token.slice(offset, length))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessageContaining("within 100");
  }

  @Test
  void rejectsANegativeLength() {
    assertThatThrownBy(() -> new RemoteMemory(0, -1, 0, Set.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("length: -1");
  }

  @Test
  void doesNotPrintItsKey() {
    assertThat(TOKEN.toString())
        .doesNotContain(Integer.toHexString(TOKEN.key()))
        .doesNotContain(Integer.toString(TOKEN.key()));
  }
}
