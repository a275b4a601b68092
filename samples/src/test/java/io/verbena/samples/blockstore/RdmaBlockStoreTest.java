// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaOptions;
import io.verbena.RemoteMemory;
import io.verbena.RemoteMemory.Right;
import io.verbena.samples.report.Progress;
import java.io.IOException;
import java.net.URI;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class RdmaBlockStoreTest extends BlockStoreContract<RdmaTwin> {
  private static final URI STORE = URI.create("emulated://rdma-block-store-test");
  private static final int WINDOW = 7;

  @Override
  RdmaTwin start() throws IOException {
    return RdmaTwin.start(STORE, RdmaOptions.builder().window(WINDOW).build(), file, LIMIT);
  }

  @Override
  Flux<ByteBuf> exchange(Publisher<ByteBuf> messages) {
    RdmaConnection connection = twin.clients().connect(twin.address()).block(LIMIT);
    return connection.receive().mergeWith(connection.send(messages).then(Mono.empty()));
  }

  @Test
  void storesWhatAClientWroteAndShowsItToOthers() {
    BlockInfo copy = new BlockInfo("copy", expected.length(), expected.sha256());
    RdmaBlockClient writer = rdmaClient();

    assertThat(write(writer, copy).block(LIMIT)).isEqualTo(copy);

    RdmaBlockClient other = rdmaClient();
    assertThat(other.list().block(LIMIT)).containsExactly(copy, expected);
    ByteBuf into = twin.clientMemory().directBuffer(SampleFile.LENGTH, SampleFile.LENGTH);
    try {
      other.read("copy", into).block(LIMIT);
      assertThat(Sha256.of(into)).isEqualTo(expected.sha256());
    } finally {
      into.release();
    }
  }

  @Test
  void refusesToStoreWhatHasAnotherDigest() {
    Sha256 wrong = new Sha256(1, 2, 3, 4);
    RdmaBlockClient writer = rdmaClient();

    assertRefused(
        () -> write(writer, new BlockInfo("copy", expected.length(), wrong)).block(LIMIT),
        ErrorCode.WRONG_DIGEST,
        "sha256: " + expected.sha256() + " (expected: " + wrong + ")");
    assertThat(writer.list().block(LIMIT)).containsExactly(expected);
  }

  @Test
  void refusesANameThatIsTaken() {
    assertRefused(
        () -> rdmaClient().reserve(expected).block(LIMIT), ErrorCode.NAME_TAKEN, SampleFile.NAME);
  }

  @Test
  void refusesALengthBeyondABuffer() {
    BlockInfo huge = new BlockInfo("huge", 1L << 31, expected.sha256());

    assertRefused(
        () -> rdmaClient().reserve(huge).block(LIMIT), ErrorCode.BAD_LENGTH, "length: 2147483648");
  }

  @Test
  void refusesMoreReservationsThanAClientMayHave() {
    RdmaBlockClient writer = rdmaClient();
    for (int i = 0; i < Uploads.CAPACITY; i++) {
      writer.reserve(new BlockInfo("new" + i, 16, expected.sha256())).block(LIMIT);
    }

    assertRefused(
        () -> writer.reserve(new BlockInfo("more", 16, expected.sha256())).block(LIMIT),
        ErrorCode.NO_SPACE,
        "reserved: 4 (expected: < 4)");
  }

  @Test
  void refusesAnImmediateThatIsNoReservation() {
    RdmaBlockClient writer = rdmaClient();
    Reply.Reservation reserved =
        writer.reserve(new BlockInfo("new", expected.length(), expected.sha256())).block(LIMIT);
    Reply.Reservation other = new Reply.Reservation(99, reserved.memory());

    assertRefused(
        () -> writer.write(twin.block().content(), other).then(writer.stored()).block(LIMIT),
        ErrorCode.MALFORMED,
        "immediate: 99");
  }

  @Test
  void aReservationEndsWhenItsBlockIsStored() {
    BlockInfo copy = new BlockInfo("copy", expected.length(), expected.sha256());
    RdmaBlockClient writer = rdmaClient();
    Reply.Reservation reservation = writer.reserve(copy).block(LIMIT);
    writer.write(twin.block().content(), reservation).block(LIMIT);
    writer.stored().block(LIMIT);

    assertThatThrownBy(() -> writer.write(twin.block().content(), reservation).block(LIMIT))
        .isInstanceOf(RdmaException.class);
  }

  @Test
  void aBlockMayNotBeWritten() {
    RemoteMemory block =
        exchange(
                Mono.fromSupplier(
                    () ->
                        BlockProtocol.encode(
                            new Request.LocateBlock(SampleFile.NAME), twin.clientMemory())))
            .map(BlockStoreContract::decode)
            .ofType(Reply.Location.class)
            .map(Reply.Location::memory)
            .blockFirst(LIMIT);
    RdmaConnection connection = twin.clients().connect(twin.address()).block(LIMIT);

    assertThat(block.rights()).isEqualTo(Set.of(Right.READ));
    assertThatThrownBy(
            () ->
                connection
                    .write(twin.clientMemory().directBuffer(8).writeLong(1), block)
                    .block(LIMIT))
        .isInstanceOf(RdmaException.class);
    assertThat(Sha256.of(twin.block().content())).isEqualTo(expected.sha256());
  }

  @Test
  void drawsEachTicketOnce() {
    try (Progress.Step step = progress.begin("tickets", 800)) {
      DrawTickets.Result result = DrawTickets.run(twin, 8, 100, step, LIMIT);

      assertThat(result.complete()).isTrue();
      assertThat(result.next()).isEqualTo(800);
    }
  }

  @Test
  @Tag("once")
  void drawsEachTicketOnceOverTcp() throws IOException {
    URI store = URI.create("iwarp://127.0.0.1:0");
    try (RdmaTwin tcp = RdmaTwin.start(store, RdmaOptions.defaults(), file, LIMIT);
        Progress.Step step = progress.begin("tickets", 200)) {
      DrawTickets.Result result = DrawTickets.run(tcp, 4, 50, step, LIMIT);

      assertThat(result.complete()).isTrue();
      assertThat(result.next()).isEqualTo(200);
    }
  }

  @Test
  void theSenderIsNeverFurtherAheadThanTheWindow() {
    try (Progress.Step step = progress.begin("stream", StreamToTwo.total(expected));
        Destinations into = new Destinations(twin.clientMemory(), 3, SampleFile.LENGTH)) {
      StreamToTwo.Result result = StreamToTwo.run(twin, expected, into, step, LIMIT);

      assertThat(result.lead()).isPositive().isLessThanOrEqualTo(WINDOW);
    }
  }

  private Mono<BlockInfo> write(RdmaBlockClient writer, BlockInfo copy) {
    return writer
        .reserve(copy)
        .flatMap(reservation -> writer.write(twin.block().content(), reservation))
        .then(writer.stored());
  }

  private RdmaBlockClient rdmaClient() {
    return twin.connect().block(LIMIT);
  }
}
