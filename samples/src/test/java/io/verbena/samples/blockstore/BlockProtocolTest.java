// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.verbena.RemoteMemory;
import io.verbena.RemoteMemory.Right;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class BlockProtocolTest {
  private static final ByteBufAllocator ALLOCATOR = UnpooledByteBufAllocator.DEFAULT;
  private static final BlockInfo BLOCK =
      new BlockInfo("modül", 1L << 40, new Sha256(1, -2, Long.MIN_VALUE, 4));
  private static final RemoteMemory MEMORY = new RemoteMemory(-8, 4096, 77, Set.of(Right.READ));

  static Stream<Request> requests() {
    return Stream.of(
        new Request.ListBlocks(),
        new Request.StatBlock("a"),
        new Request.LocateBlock("n".repeat(BlockProtocol.MAX_NAME_LENGTH)),
        new Request.LocateTickets(),
        new Request.ReserveBlock(BLOCK),
        new Request.StreamBlock("a", -1));
  }

  static Stream<Reply> replies() {
    return Stream.of(
        new Reply.Listing(List.of()),
        new Reply.Listing(List.of(BLOCK, new BlockInfo("b", 0, BLOCK.sha256()))),
        new Reply.Status(BLOCK),
        new Reply.Location(MEMORY),
        new Reply.Reservation(-3, MEMORY),
        new Reply.Streaming(1, 2, 3),
        new Reply.Stored(BLOCK),
        new Reply.Refused(ErrorCode.MALFORMED, "why"),
        new Reply.Refused(ErrorCode.NOT_SUPPORTED, ""));
  }

  @ParameterizedTest
  @MethodSource("requests")
  void aRequestComesBackAsItWas(Request request) {
    assertThat(decode(request(request), BlockProtocol::decodeRequest)).isEqualTo(request);
  }

  @ParameterizedTest
  @MethodSource("replies")
  void aReplyComesBackAsItWas(Reply reply) {
    assertThat(decode(reply(reply), BlockProtocol::decodeReply)).isEqualTo(reply);
  }

  @ParameterizedTest
  @MethodSource("requests")
  void rejectsARequestThatEndsTooSoon(Request request) {
    String whole = request(request);
    for (int length = 0; length < whole.length(); length += 2) {
      assertRejected(whole.substring(0, length), BlockProtocol::decodeRequest, "ends too soon");
    }
  }

  @ParameterizedTest
  @MethodSource("replies")
  void rejectsAReplyThatEndsTooSoon(Reply reply) {
    String whole = reply(reply);
    for (int length = 0; length < whole.length(); length += 2) {
      assertRejected(whole.substring(0, length), BlockProtocol::decodeReply, "");
    }
  }

  @ParameterizedTest
  @MethodSource("requests")
  void rejectsBytesBehindARequest(Request request) {
    assertRejected(
        request(request) + "00",
        BlockProtocol::decodeRequest,
        "bytes after the message: 1 (expected: 0)");
  }

  @Test
  void rejectsAnotherMagic() {
    assertRejected("b401", BlockProtocol::decodeRequest, "magic: 180 (expected: 181)");
  }

  @Test
  void rejectsAnUnknownType() {
    assertRejected("b500", BlockProtocol::decodeRequest, "type: 0 (expected: 1..6)");
    assertRejected("b507", BlockProtocol::decodeRequest, "type: 7 (expected: 1..6)");
    assertRejected("b501", BlockProtocol::decodeReply, "type: 1 (expected: 65..71)");
  }

  @Test
  void rejectsANameOfNoLength() {
    assertRejected(
        "b5020000", BlockProtocol::decodeRequest, "length of name: 0 (expected: 1..255)");
  }

  @Test
  void rejectsANameThatIsOneByteTooLong() {
    assertRejected(
        "b5020100" + "61".repeat(256),
        BlockProtocol::decodeRequest,
        "length of name: 256 (expected: 1..255)");
    assertThatThrownBy(() -> request(new Request.StatBlock("a".repeat(256))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("length of name: 256 (expected: 1..255)");
  }

  @Test
  void rejectsANegativeLength() {
    assertRejected(
        "b505" + "000161" + "ffffffffffffffff" + "00".repeat(32),
        BlockProtocol::decodeRequest,
        "length: -1 (expected: >= 0)");
  }

  @Test
  void rejectsANegativeCount() {
    assertRejected("b541ffffffff", BlockProtocol::decodeReply, "count: -1 (expected: >= 0)");
  }

  @Test
  void rejectsAMalformedToken() {
    assertRejected("b543" + "00".repeat(24), BlockProtocol::decodeReply, "token: magic: 0");
  }

  @Test
  void rejectsAnUnknownRefusal() {
    assertRejected("b547000000", BlockProtocol::decodeReply, "refusal: 0 (expected: 1..7)");
    assertRejected("b547080000", BlockProtocol::decodeReply, "refusal: 8 (expected: 1..7)");
  }

  @Test
  void cutsAReasonThatIsTooLong() {
    Reply reply = new Reply.Refused(ErrorCode.NO_SPACE, "x".repeat(5_000));

    assertThat(decode(reply(reply), BlockProtocol::decodeReply))
        .isEqualTo(new Reply.Refused(ErrorCode.NO_SPACE, "x".repeat(1_000)));
  }

  @Test
  void theListingOfAFullCatalogFitsInAMessage() {
    List<BlockInfo> blocks = new ArrayList<>();
    for (int i = 0; i < BlockCatalog.CAPACITY; i++) {
      blocks.add(new BlockInfo("n".repeat(BlockProtocol.MAX_NAME_LENGTH), i, BLOCK.sha256()));
    }

    assertThat(reply(new Reply.Listing(blocks)).length() / 2)
        .isLessThanOrEqualTo(BlockProtocol.MAX_LENGTH);
  }

  private static void assertRejected(String hex, Function<ByteBuf, ?> decoder, String why) {
    assertThatThrownBy(() -> decode(hex, decoder))
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining(why);
  }

  private static String request(Request request) {
    return hex(BlockProtocol.encode(request, ALLOCATOR));
  }

  private static String reply(Reply reply) {
    return hex(BlockProtocol.encode(reply, ALLOCATOR));
  }

  private static String hex(ByteBuf message) {
    try {
      return ByteBufUtil.hexDump(message);
    } finally {
      message.release();
    }
  }

  private static <T> T decode(String hex, Function<ByteBuf, T> decoder) {
    ByteBuf message = Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(hex));
    try {
      return decoder.apply(message);
    } finally {
      message.release();
    }
  }
}
