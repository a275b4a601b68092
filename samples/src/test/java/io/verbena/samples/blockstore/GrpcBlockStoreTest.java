// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaOptions;
import io.verbena.RemoteMemory;
import io.verbena.RemoteMemory.Right;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;

/** Tests the block store behind gRPC. */
class GrpcBlockStoreTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final URI STORE = URI.create("emulated://grpc-block-store-test");

  @TempDir Path folder;
  private BlockInfo expected;
  private RdmaTwin store;

  @BeforeEach
  void load() throws IOException {
    Path file = SampleFile.in(folder);
    expected = new BlockInfo(SampleFile.NAME, SampleFile.LENGTH, Sha256.of(file));
    store = RdmaTwin.start(STORE, RdmaOptions.defaults(), file, LIMIT);
  }

  @AfterEach
  void unload() {
    store.close();
  }

  /** The tests for each transport. */
  abstract class Contract<T extends Twin> {
    T twin;

    abstract T open() throws IOException;

    @BeforeEach
    void serve() throws IOException {
      twin = open();
    }

    @AfterEach
    void stop() {
      twin.close();
    }

    @Test
    void listsAndStatsTheBlock() {
      BlockClient client = twin.connect().block(LIMIT);

      assertThat(client.list().block(LIMIT)).containsExactly(expected);
      assertThat(client.stat(SampleFile.NAME).block(LIMIT)).isEqualTo(expected);
      client.close().block(LIMIT);
    }

    @Test
    void readsTheWholeBlockAgainAndAgain() {
      BlockClient client = twin.connect().block(LIMIT);
      ByteBuf into =
          UnpooledByteBufAllocator.DEFAULT.directBuffer(SampleFile.LENGTH, SampleFile.LENGTH);
      try {
        for (int i = 0; i < 10; i++) {
          into.clear().setZero(0, into.capacity());
          client.read(SampleFile.NAME, into).block(LIMIT);

          assertThat(into.readableBytes()).isEqualTo(SampleFile.LENGTH);
          assertThat(Sha256.of(into)).isEqualTo(expected.sha256());
        }
      } finally {
        into.release();
      }
      client.close().block(LIMIT);
    }

    @Test
    void refusesABlockThatIsNotThereAndGoesOn() {
      BlockClient client = twin.connect().block(LIMIT);
      ByteBuf into = UnpooledByteBufAllocator.DEFAULT.directBuffer(16);
      try {
        assertRefused(() -> client.stat("none").block(LIMIT));
        assertRefused(() -> client.read("none", into).block(LIMIT));
        assertThat(client.list().block(LIMIT)).containsExactly(expected);
      } finally {
        into.release();
      }
    }

    /** The test leaves its client open: the twin closes the client. */
    @Test
    void refusesPiecesOfNoLength() {
      GrpcBlockClient client = (GrpcBlockClient) twin.connect().block(LIMIT);

      assertThatThrownBy(
              () ->
                  client
                      .call(GrpcMethods.CONTENT, new Request.StreamBlock(SampleFile.NAME, 0))
                      .blockLast(LIMIT))
          .isInstanceOf(StatusRuntimeException.class)
          .hasMessageContaining("message length: 0 (expected: 1..16777216)");
    }

    private static void assertRefused(ThrowingCallable call) {
      BlockStoreContract.assertRefused(call, ErrorCode.UNKNOWN_BLOCK, "none");
    }
  }

  @Nested
  class OnSockets extends Contract<GrpcTcpTwin> {
    @Override
    GrpcTcpTwin open() throws IOException {
      return GrpcTcpTwin.start(store.block().share(), LIMIT);
    }

    @Test
    void leasesNothing() {
      GrpcTcpClient client = twin.connect().block(LIMIT);

      assertThatThrownBy(
              () ->
                  client
                      .call(GrpcMethods.LEASE, new Request.LocateBlock(SampleFile.NAME))
                      .blockLast(LIMIT))
          .isInstanceOfSatisfying(
              StatusRuntimeException.class,
              e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNIMPLEMENTED));
    }
  }

  @Nested
  class OnAnHca extends Contract<GrpcRdmaTwin> {
    @Override
    GrpcRdmaTwin open() throws IOException {
      return GrpcRdmaTwin.start(store, LIMIT);
    }

    @Test
    void aTokenIsGoodForReadingUntilItsLeaseEnds() throws Exception {
      GrpcRdmaClient client = twin.connect().block(LIMIT);
      RdmaConnection connection = store.clients().connect(store.address()).block(LIMIT);
      Lease ended = new Lease(client);
      Lease kept = new Lease(client);

      assertThat(ended.token.rights()).containsExactly(Right.READ);
      assertReads(connection, ended.token);
      ended.call.dispose();

      await().atMost(LIMIT).untilAsserted(() -> assertDead(ended.token));
      assertReads(connection, kept.token);
      kept.call.dispose();
      await().atMost(LIMIT).untilAsserted(() -> assertDead(kept.token));
    }

    @Test
    void aLeaseEndsWithItsClient() throws Exception {
      GrpcRdmaClient client = twin.connect().block(LIMIT);
      RemoteMemory token = new Lease(client).token;

      twin.close();

      assertDead(token);
    }

    @Test
    void aReadLeavesNoMemoryRegistered() {
      GrpcRdmaClient client = twin.connect().block(LIMIT);
      ByteBuf into = store.clientMemory().directBuffer(SampleFile.LENGTH, SampleFile.LENGTH);
      long registered = store.serverMemory().registeredBytes();
      try {
        client.read(SampleFile.NAME, into).block(LIMIT);
      } finally {
        into.release();
      }

      await()
          .atMost(LIMIT)
          .untilAsserted(
              () -> assertThat(store.serverMemory().registeredBytes()).isEqualTo(registered));
    }

    private static void assertReads(RdmaConnection connection, RemoteMemory token) {
      connection.read(token.slice(0, 16)).block(LIMIT).release();
    }

    /** Asserts that a token is invalid, on a new connection, which the failing read ends. */
    private void assertDead(RemoteMemory token) {
      RdmaConnection connection = store.clients().connect(store.address()).block(LIMIT);
      assertThatThrownBy(() -> assertReads(connection, token)).isInstanceOf(RdmaException.class);
    }
  }

  /** A lease that lasts until its call is disposed. */
  private static final class Lease {
    final Disposable call;
    final RemoteMemory token;

    Lease(GrpcBlockClient client) throws InterruptedException {
      BlockingQueue<Reply> answers = new LinkedBlockingQueue<>();
      call =
          client
              .call(GrpcMethods.LEASE, new Request.LocateBlock(SampleFile.NAME))
              .subscribe(answers::add, failure -> {});
      token = ((Reply.Location) answers.poll(LIMIT.toSeconds(), TimeUnit.SECONDS)).memory();
    }
  }
}
