// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.verbena.samples.report.Progress;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Tests the block store on each transport. */
abstract class BlockStoreContract<T extends StreamingTwin> {
  static final Duration LIMIT = Duration.ofSeconds(30);

  private static final ByteBufAllocator UNPOOLED = new UnpooledByteBufAllocator(false);

  @TempDir Path folder;
  Path file;
  BlockInfo expected;
  T twin;

  final Progress progress =
      new Progress(new PrintStream(OutputStream.nullOutputStream(), false, UTF_8), false);

  /** Starts a store that serves {@link #file}. */
  abstract T start() throws Exception;

  /** Sends messages of the test's own over a new connection; returns the answers. */
  abstract Flux<ByteBuf> exchange(Publisher<ByteBuf> messages);

  @BeforeEach
  void serve() throws Exception {
    file = SampleFile.in(folder);
    expected = new BlockInfo(SampleFile.NAME, SampleFile.LENGTH, Sha256.of(file));
    twin = start();
  }

  @AfterEach
  void stop() {
    twin.close();
    progress.close();
  }

  @Test
  void listsTheBlock() {
    assertThat(connect().list().block(LIMIT)).containsExactly(expected);
  }

  @Test
  void statsTheBlock() {
    assertThat(connect().stat(SampleFile.NAME).block(LIMIT)).isEqualTo(expected);
  }

  @Test
  void readsTheWholeBlock() {
    ByteBuf into = UNPOOLED.directBuffer(SampleFile.LENGTH, SampleFile.LENGTH);
    try {
      connect().read(SampleFile.NAME, into).block(LIMIT);

      assertThat(into.readableBytes()).isEqualTo(SampleFile.LENGTH);
      assertThat(Sha256.of(into)).isEqualTo(expected.sha256());
    } finally {
      into.release();
    }
  }

  @Test
  void streamsTheBlockInMessagesOfTheLengthThatWasAskedFor() {
    BlockStream stream = connect().stream(SampleFile.NAME, 64 << 10).block(LIMIT);

    List<Integer> lengths =
        stream.content().map(BlockStoreContract::take).collectList().block(LIMIT);

    assertThat(stream.length()).isEqualTo(SampleFile.LENGTH);
    assertThat(lengths).hasSize(stream.messages()).hasSize(41).endsWith(64 << 10, 13);
  }

  @Test
  void answersOneRequestAfterTheOtherOnAConnection() {
    StreamingClient client = connect();
    for (int i = 0; i < 300; i++) {
      assertThat(client.stat(SampleFile.NAME).block(LIMIT)).isEqualTo(expected);
    }
  }

  @Test
  void goesOnAfterAStreamThatWasTakenToItsEnd() {
    StreamingClient client = connect();
    client.stream(SampleFile.NAME, 1_000)
        .block(LIMIT)
        .content()
        .map(BlockStoreContract::take)
        .blockLast(LIMIT);

    assertThat(client.stat(SampleFile.NAME).block(LIMIT)).isEqualTo(expected);
  }

  @Test
  void refusesABlockThatIsNotThereAndGoesOn() {
    StreamingClient client = connect();

    assertRefused(() -> client.stat("none").block(LIMIT), ErrorCode.UNKNOWN_BLOCK, "none");
    assertThat(client.list().block(LIMIT)).containsExactly(expected);
  }

  @Test
  void refusesMessagesOfNoLengthOrOfTooGreatLength() {
    StreamingClient client = connect();

    assertRefused(
        () -> client.stream(SampleFile.NAME, 0).block(LIMIT),
        ErrorCode.BAD_LENGTH,
        "message length: 0 (expected: 1..16777216)");
    assertRefused(
        () -> client.stream(SampleFile.NAME, Answers.MAX_MESSAGE_LENGTH + 1).block(LIMIT),
        ErrorCode.BAD_LENGTH,
        "message length: 16777217 (expected: 1..16777216)");
  }

  @Test
  void refusesGarbageAndGoesOn() {
    Request stat = new Request.StatBlock(SampleFile.NAME);
    Mono<ByteBuf> garbage =
        Mono.fromSupplier(() -> UNPOOLED.directBuffer().writeBytes(new byte[] {1, 2}));
    Mono<ByteBuf> empty = Mono.fromSupplier(UNPOOLED::directBuffer);
    Mono<ByteBuf> good = Mono.fromSupplier(() -> BlockProtocol.encode(stat, UNPOOLED));

    List<Reply> replies =
        exchange(Flux.concat(garbage, empty, good))
            .map(BlockStoreContract::decode)
            .take(3)
            .collectList()
            .block(LIMIT);

    assertThat(replies)
        .containsExactly(
            new Reply.Refused(ErrorCode.MALFORMED, "magic: 1 (expected: 181)"),
            new Reply.Refused(ErrorCode.MALFORMED, "message of 0 bytes ends too soon"),
            new Reply.Status(expected));
  }

  @Test
  void aClientMayLeaveInTheMiddleOfAStream() {
    StreamingClient leaver = connect();
    BlockStream stream = leaver.stream(SampleFile.NAME, 1_000).block(LIMIT);
    stream.content().take(3).map(BlockStoreContract::take).blockLast(LIMIT);
    leaver.close().block(LIMIT);

    assertThat(connect().list().block(LIMIT)).containsExactly(expected);
  }

  @Test
  void aStalledSubscriberDoesNotStopAnotherOne() {
    try (Destinations into = new Destinations(UNPOOLED, 3, SampleFile.LENGTH);
        Progress.Step step = progress.begin("stream", StreamToTwo.total(expected))) {
      StreamToTwo.Result result = StreamToTwo.run(twin, expected, into, step, LIMIT);

      assertThat(result.digests()).hasSize(3).containsOnly(expected.sha256());
    }
  }

  StreamingClient connect() {
    return twin.connect().block(LIMIT);
  }

  static void assertRefused(ThrowingCallable call, ErrorCode refusal, String why) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            RefusedException.class, e -> assertThat(e.refusal()).isEqualTo(refusal))
        .hasMessageContaining(why);
  }

  static Reply decode(ByteBuf message) {
    try {
      return BlockProtocol.decodeReply(message);
    } finally {
      message.release();
    }
  }

  private static int take(ByteBuf message) {
    int length = message.readableBytes();
    message.release();
    return length;
  }
}
