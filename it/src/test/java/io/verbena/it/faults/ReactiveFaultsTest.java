// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.it.Program;
import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Fill;
import io.verbena.it.node.Nodes;
import io.verbena.it.node.Side;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Tests the same faults in the reactive layer. */
@Tag("once")
@InSoftRoceGuest(nodes = 2)
class ReactiveFaultsTest extends FaultTests {
  private static final List<Integer> LENGTHS = List.of(0, 1, 100, 5_000, 70_000, 200_000, 7);
  private static final int LOSS_PERCENT = 5;
  private static final Duration DEADLINE = Duration.ofSeconds(5);

  @Test
  void messagesOfAllSizesSurviveLoss() throws Exception {
    RdmaTransport transport = RdmaTransport.create();
    try {
      RdmaServer server = serve(transport);
      RdmaConnection connection = connect(transport, Nodes.fromNode1(server.address()));
      Program.run("link-loss", Integer.toString(LOSS_PERCENT));
      CompletableFuture<Void> sent =
          connection
              .send(
                  Flux.range(0, LENGTHS.size())
                      .map(i -> Unpooled.wrappedBuffer(Fill.bytes(i, LENGTHS.get(i)))))
              .toFuture();
      List<byte[]> back =
          connection
              .receive()
              .map(ReactiveFaultsTest::take)
              .take(LENGTHS.size())
              .collectList()
              .block(Side.PATIENCE);
      assertThat(back).hasSameSizeAs(LENGTHS);
      for (int i = 0; i < LENGTHS.size(); i++) {
        assertThat(Objects.requireNonNull(back).get(i))
            .as("message %d", i)
            .isEqualTo(Fill.bytes(i, LENGTHS.get(i)));
      }
      sent.get(Side.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      Program.run("link-loss", "0");
      connection.close().block(Side.PATIENCE);
    } finally {
      transport.dispose();
    }
  }

  private static byte[] take(ByteBuf message) {
    byte[] bytes = new byte[message.readableBytes()];
    message.readBytes(bytes).release();
    return bytes;
  }

  @Test
  void aKilledPeerEndsWhatIsPending() throws Exception {
    RdmaTransport transport = RdmaTransport.create();
    try (var peer = Program.start(Program.java(Peer.class, "echo"))) {
      RdmaConnection connection = connect(transport, PeerKilledTest.awaitAddress(peer));
      CompletableFuture<List<byte[]>> received =
          connection.receive().map(ReactiveFaultsTest::take).collectList().toFuture();
      CompletableFuture<Void> sent =
          connection
              .send(
                  Flux.<ByteBuf, Integer>generate(
                      () -> 0,
                      (i, sink) -> {
                        sink.next(Unpooled.wrappedBuffer(Fill.bytes(i, 1000)));
                        return i + 1;
                      }))
              .toFuture();
      peer.kill();
      assertEnds(received);
      assertEnds(sent);
    } finally {
      transport.dispose();
    }
  }

  @Test
  void aCutCableEndsWhatIsPendingWithinItsDeadline() throws Exception {
    RdmaTransport transport =
        RdmaTransport.create(
            RdmaOptions.builder().operationTimeout(DEADLINE).closeTimeout(DEADLINE).build());
    try {
      RdmaServer server = serve(transport);
      RdmaConnection connection = connect(transport, Nodes.fromNode1(server.address()));
      Program.run("link-down", "2");
      assertEnds(
          connection.send(Mono.just(Unpooled.wrappedBuffer(Fill.bytes(1, 1000)))).toFuture());
    } finally {
      transport.dispose();
    }
  }

  private static void assertEnds(CompletableFuture<?> pending) {
    assertThatThrownBy(() -> pending.get(Side.PATIENCE.toSeconds(), TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(RdmaException.class);
  }

  private static RdmaServer serve(RdmaTransport transport) {
    return Objects.requireNonNull(
        transport
            .bind(URI.create(Nodes.server()), connection -> connection.send(connection.receive()))
            .block(Side.PATIENCE));
  }

  private static RdmaConnection connect(RdmaTransport transport, URI to) {
    return Objects.requireNonNull(transport.connect(to).block(Side.PATIENCE));
  }
}
