// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.TooLongFrameException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TcpMessageDecoderTest {
  private static final int MAX_LENGTH = 8;

  private final EmbeddedChannel channel = new EmbeddedChannel(new TcpMessageDecoder(MAX_LENGTH));

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  @Test
  void findsMessagesThatArriveTogether() {
    channel.writeInbound(bytes("00000002abcd0000000000000001ef"));

    assertThat(messages()).containsExactly("abcd", "", "ef");
  }

  @Test
  void findsMessagesThatArriveByteByByte() {
    for (byte one : ByteBufUtil.decodeHexDump("00000002abcd0000000000000003010203")) {
      channel.writeInbound(Unpooled.directBuffer().writeByte(one));
    }

    assertThat(messages()).containsExactly("abcd", "", "010203");
  }

  @Test
  void findsTheNextMessageBehindTheEndOfAPartialOne() {
    channel.writeInbound(bytes("00000004aabb"), bytes("ccdd00000001ee"));

    assertThat(messages()).containsExactly("aabbccdd", "ee");
  }

  @Test
  void takesAMessageOfTheGreatestLength() {
    channel.writeInbound(bytes("000000080102030405060708"));

    assertThat(messages()).containsExactly("0102030405060708");
  }

  @Test
  void rejectsAMessageThatIsOneByteTooLong() {
    assertThatThrownBy(() -> channel.writeInbound(bytes("00000009")))
        .isInstanceOf(TooLongFrameException.class)
        .hasMessage("message length: 9 (expected: 0..8)");
  }

  @Test
  void rejectsANegativeLength() {
    assertThatThrownBy(() -> channel.writeInbound(bytes("ffffffff")))
        .isInstanceOf(TooLongFrameException.class)
        .hasMessage("message length: 4294967295 (expected: 0..8)");
  }

  @Test
  void deliversNothingAfterALengthThatItRejected() {
    assertThatThrownBy(() -> channel.writeInbound(bytes("0000000900000001aa")))
        .isInstanceOf(TooLongFrameException.class);
    channel.writeInbound(bytes("00000001aa"));

    assertThat(messages()).isEmpty();
  }

  @Test
  void releasesAMessageThatNeverBecameWhole() {
    ByteBuf sent = bytes("00000004aa");
    channel.writeInbound(sent);

    channel.finishAndReleaseAll();

    assertThat(sent.refCnt()).isZero();
    assertThat(messages()).isEmpty();
  }

  private static ByteBuf bytes(String hex) {
    byte[] bytes = ByteBufUtil.decodeHexDump(hex);
    return Unpooled.directBuffer(bytes.length).writeBytes(bytes);
  }

  private List<String> messages() {
    List<String> messages = new ArrayList<>();
    for (ByteBuf message = channel.readInbound();
        message != null;
        message = channel.readInbound()) {
      messages.add(ByteBufUtil.hexDump(message));
      message.release();
    }
    return messages;
  }
}
