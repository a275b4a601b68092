// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.verbena.ConnectionClosedException;
import io.verbena.PeerUnreachableException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.core.micrometer.VerbenaMeters;
import io.verbena.core.testing.Addresses;
import io.verbena.meters.Backlog;
import io.verbena.meters.HcaMeter;
import io.verbena.meters.MeteredHca;
import io.verbena.meters.Meters;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.RawPeer;
import io.verbena.reactor.testing.hca.LimitedProvider;
import io.verbena.verbs.CompletionStatus;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import reactor.core.publisher.Mono;

/** Tests how an idle connection detects a peer that vanished without closing. */
class KeepAliveTest {
  private static final Duration SHORT = Duration.ofMillis(80);

  /**
   * Soft-RoCE retries without end if told to retry 7 times: there the operation timeout decides.
   */
  private static final boolean SOFT_ROCE =
      Stream.of(Addresses.of("keep-alive"), Addresses.reach(Addresses.of("keep-alive")))
          .anyMatch(address -> address.getScheme().equals("disni"));

  private static RdmaOptions.Builder asking() {
    return Ends.options().keepAlive(SHORT);
  }

  /**
   * Returns options for a peer that is about to die: with a short operation timeout on Soft-RoCE.
   */
  private static RdmaOptions.Builder askingTheDead() {
    return SOFT_ROCE ? asking().operationTimeout(Duration.ofSeconds(2)) : asking();
  }

  @Test
  void aPeerThatNeverAnswersIsGivenUpWithTheDeadlineOfOperations() throws Exception {
    Duration deadline = Duration.ofMillis(50);
    try (Ends ends = Ends.create(asking().operationTimeout(deadline).closeTimeout(deadline));
        RawPeer peer = RawPeer.listening()) {
      RdmaConnection connection;
      if (Addresses.areEmulated()) {
        connection = connect(ends, peer, LimitedProvider.limited(peer.address()));
        // An HCA whose peer is gone gives up by its own clock, which runs even where the loop does
        // not.
        LimitedProvider.hold(true);
      } else {
        connection = connect(ends, peer);
        peer.vanish();
      }

      assertThatThrownBy(() -> connection.onClose().block(Ends.LIMIT))
          .isInstanceOfSatisfying(
              PeerUnreachableException.class,
              e -> {
                // On an HCA that repeats packets, its retries may run out first on a busy machine.
                assertThat(e.status())
                    .isIn(
                        Addresses.areEmulated()
                            ? new Object[] {null}
                            : new Object[] {null, CompletionStatus.RETRY_EXC_ERR});
                assertThat(e.peer()).isEqualTo(connection.peer());
              })
          .hasMessageContaining("keep-alive");
    } finally {
      LimitedProvider.hold(false);
    }
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void aClientNoticesThatItsPeerIsGone() throws Exception {
    try (Ends ends = Ends.create(askingTheDead());
        RawPeer peer = RawPeer.listening()) {
      RdmaConnection connection = connect(ends, peer);

      peer.vanish();

      assertEnds(connection);
    }
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void countsQuestionsAndPeersFoundDead() throws Exception {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    try (Ends ends =
            Ends.create(Ends.options(), askingTheDead().meters(new VerbenaMeters(registry)));
        RawPeer peer = RawPeer.listening()) {
      RdmaConnection connection = connect(ends, peer);

      peer.vanish();
      assertEnds(connection);

      assertThat(registry.get("verbena.keep.alive.questions").counter().count()).isPositive();
      assertThat(registry.get("verbena.keep.alive.dead").counter().count()).isEqualTo(1);
    }
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void aServerNoticesThatItsPeerIsGone() throws Exception {
    LinkedBlockingQueue<RdmaConnection> accepted = new LinkedBlockingQueue<>();
    RdmaTransport transport = RdmaTransport.create(askingTheDead().build());
    RdmaServer server =
        transport
            .bind(
                Addresses.of("keep-alive-server"),
                connection -> {
                  accepted.add(connection);
                  return Mono.never();
                })
            .blockOptional(Ends.LIMIT)
            .orElseThrow();
    try (RawPeer peer = RawPeer.to(server.address())) {
      peer.connect(RawPeer.handshake().encode());
      RdmaConnection connection = accepted.poll(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS);
      assertThat(connection).isNotNull();

      peer.vanish();

      assertEnds(connection);
    }
    // Fails if a queue pair or a memory region is still open.
    transport.dispose();
  }

  private static RdmaConnection connect(Ends ends, RawPeer peer) throws Exception {
    return connect(ends, peer, peer.address());
  }

  private static RdmaConnection connect(Ends ends, RawPeer peer, URI address) throws Exception {
    CompletableFuture<RdmaConnection> connect = ends.clientSide().connect(address).toFuture();
    peer.accept(RawPeer.handshake().encode());
    return connect.get(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS);
  }

  /**
   * Asserts that the connection ends. As nothing is sent, only the keep-alive can detect the loss.
   */
  private static void assertEnds(RdmaConnection connection) {
    CompletableFuture<ByteBuf> received = connection.receive().next().toFuture();

    assertThatThrownBy(() -> connection.onClose().block(Ends.LIMIT))
        .isInstanceOfSatisfying(
            PeerUnreachableException.class,
            e -> {
              if (e.status() != null || !SOFT_ROCE) {
                assertThat(e.status()).isEqualTo(CompletionStatus.RETRY_EXC_ERR);
              }
              assertThat(e.peer()).isEqualTo(connection.peer());
            })
        .hasMessageContaining("keep-alive");
    assertThat(received)
        .failsWithin(Ends.LIMIT)
        .withThrowableThat()
        .withCauseInstanceOf(ConnectionClosedException.class)
        .withRootCauseInstanceOf(PeerUnreachableException.class);
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void asksNobodyWithoutKeepAlive() throws Exception {
    try (Ends asking = Ends.create(askingTheDead());
        Ends trusting = Ends.create(Ends.options().keepAlive(Duration.ZERO));
        RawPeer one = RawPeer.listening();
        RawPeer other = RawPeer.listening()) {
      RdmaConnection trusts = connect(trusting, other);
      RdmaConnection asks = connect(asking, one);
      other.vanish();
      one.vanish();

      assertEnds(asks);

      assertThat(trusts.isDisposed()).isFalse();
    }
  }

  @Test
  void anIdleConnectionIsAskedForAndStays() {
    CompletionCount client = new CompletionCount();
    CompletionCount server = new CompletionCount();
    try (Ends ends = Ends.create(asking().meters(server), asking().meters(client))) {
      Ends.Pair pair = ends.connect();
      int before = client.polled.get();
      int beforeAtServer = server.polled.get();

      await()
          .atMost(Ends.LIMIT)
          .until(
              () -> client.polled.get() - before >= 5 && server.polled.get() - beforeAtServer >= 5);

      assertThat(pair.client().isDisposed()).isFalse();
      assertThat(pair.server().isDisposed()).isFalse();
      Mono<byte[]> arrives = pair.server().receive().next().map(Ends::take);
      CompletableFuture<byte[]> received = arrives.toFuture();
      pair.client().send(Mono.just(Ends.message(pair.client(), 100, 1))).block(Ends.LIMIT);
      assertThat(received).succeedsWithin(Ends.LIMIT).isEqualTo(Ends.bytes(100, 1));
    }
  }

  /** Counts completions, including those of keep-alive requests. */
  private static final class CompletionCount extends HcaMeter implements Meters {
    private final AtomicInteger polled = new AtomicInteger();

    @Override
    public HcaMeter hca(MeteredHca hca) {
      return this;
    }

    @Override
    public Watch watch(String adapter, String provider, Backlog backlog) {
      return () -> {};
    }

    @Override
    public void polled(int completions) {
      polled.addAndGet(completions);
    }
  }
}
