// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.SocketChannel;
import io.verbena.RdmaOptions;
import io.verbena.meters.Backlog;
import io.verbena.meters.HcaMeter;
import io.verbena.meters.MeteredHca;
import io.verbena.meters.Meters;
import io.verbena.netty.wire.Handshake;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests how a channel that sends nothing detects a peer that vanished without closing. */
class KeepAliveTest {
  private static final Duration SHORT = Duration.ofMillis(80);

  /** A quarter of this time is enough for a message. */
  private static final Duration LONGER = Duration.ofMillis(400);

  private static final int PIECE = 4096;
  private static final int DEPTH = 8;

  /** Soft-RoCE retries without end: there the operation timeout decides. */
  private static final Duration DEADLINE = Duration.ofSeconds(4);

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void aSilentPeerThatIsGoneBreaksTheChannelUnlessNobodyAsks() throws Exception {
    Collector told = new Collector();
    Collector untold = new Collector();
    try (Ends ends = new Ends(Ends.options().keepAlive(SHORT).operationTimeout(DEADLINE))) {
      Channel asking = Ends.bind(ends.server(told));
      Channel trusting =
          Ends.bind(ends.server(untold).childOption(ChannelOption.SO_KEEPALIVE, false));
      try (RawClient one = RawClient.to(asking);
          RawClient other = RawClient.to(trusting)) {
        SocketChannel first = ends.accepted();
        SocketChannel second = ends.accepted();
        await().atMost(Ends.LIMIT).until(() -> first.isActive() && second.isActive());

        other.vanish();
        one.vanish();

        assertThat(first.closeFuture().await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS))
            .isTrue();
        assertThat(told.events)
            .anySatisfy(
                event ->
                    assertThat(event)
                        .isInstanceOf(IOException.class)
                        .asString()
                        .containsAnyOf("RETRY_EXC_ERR", "no answer to a keep-alive"));
        assertThat(second.isActive()).isTrue();
        assertThat(untold.events).isEmpty();
        second.close().syncUninterruptibly();
      }
    }
  }

  /** A half-closed channel with nothing to write can detect the loss in no other way. */
  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void aPeerThatIsGoneBehindItsEndBreaksTheChannel() throws Exception {
    Collector told = new Collector();
    try (Ends ends = new Ends(Ends.options().keepAlive(SHORT).operationTimeout(DEADLINE))) {
      Channel server =
          Ends.bind(ends.server(told).childOption(ChannelOption.ALLOW_HALF_CLOSURE, true));
      try (RawClient client = RawClient.to(server)) {
        SocketChannel accepted = ends.accepted();
        client.send(0, ControlWord.end(0));
        await()
            .atMost(Ends.LIMIT)
            .until(() -> told.events.contains(ChannelInputShutdownReadComplete.INSTANCE));

        client.vanish();

        assertThat(accepted.closeFuture().await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS))
            .isTrue();
        assertThat(told.events).hasAtLeastOneElementOfType(IOException.class);
      }
    }
  }

  /** Its last message was short, and so has no completion of its own. */
  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void aPeerThatWasSentAShortMessageIsAskedToo() throws Exception {
    Collector told = new Collector();
    try (Ends ends = new Ends(Ends.options().keepAlive(SHORT).operationTimeout(DEADLINE))) {
      Channel server = Ends.bind(ends.server(told));
      try (RawClient client = RawClient.to(server)) {
        SocketChannel accepted = ends.accepted();
        await().atMost(Ends.LIMIT).until(accepted::isActive);
        accepted.writeAndFlush(Unpooled.wrappedBuffer(new byte[10])).syncUninterruptibly();
        client.receive();

        client.vanish();

        assertThat(accepted.closeFuture().await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS))
            .isTrue();
      }
    }
  }

  /** The requests posted before the channel's end wait for receives that the peer does not post. */
  @Test
  void aChannelWhosePeerTakesNoMoreAndOwesAnAnswerCanBeClosed() throws Exception {
    Questions questions = new Questions();
    RdmaOptions.Builder options =
        Ends.options()
            .sendDepth(DEPTH)
            .keepAlive(LONGER)
            .operationTimeout(DEADLINE)
            .closeTimeout(Duration.ofSeconds(1))
            .meters(questions);
    try (Ends ends = new Ends(options);
        RawClient peer = new RawClient()) {
      Channel server = Ends.bind(ends.server(new Collector()));
      peer.connect(
          (InetSocketAddress) server.localAddress(), new Handshake(1, false, PIECE, 64).encode());
      SocketChannel accepted = ends.accepted();
      await().atMost(Ends.LIMIT).until(accepted::isActive);
      for (int i = 0; i < RawClient.RECEIVES + DEPTH - StreamSendQueue.RESERVED; i++) {
        ChannelFuture unused = accepted.write(Unpooled.wrappedBuffer(new byte[PIECE]));
      }
      accepted.flush();
      await().atMost(Ends.LIMIT).until(() -> unsent(accepted) <= 1);
      // The channel returns the credits for both messages.
      peer.send(10, 0);
      peer.send(10, 0);
      await().atMost(Ends.LIMIT).until(() -> questions.asked.get() > 0);

      ChannelFuture closing = accepted.close();

      assertThat(closing.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(closing.cause()).isNull();
      assertThat(peer.isDisconnected()).isTrue();
    }
  }

  /** Returns the number of flushed messages that are not posted. */
  private static int unsent(SocketChannel channel) {
    return channel
        .eventLoop()
        .submit(() -> requireNonNull(channel.unsafe().outboundBuffer()).size())
        .syncUninterruptibly()
        .getNow();
  }

  /** Counts the keep-alive questions. */
  private static final class Questions extends HcaMeter implements Meters {
    private final AtomicInteger asked = new AtomicInteger();

    @Override
    public void peerAsked() {
      asked.incrementAndGet();
    }

    @Override
    public HcaMeter hca(MeteredHca hca) {
      return this;
    }

    @Override
    public Watch watch(String adapter, String provider, Backlog backlog) {
      return () -> {};
    }
  }

  @Test
  void anIdleChannelStays() throws Exception {
    Collector received = new Collector();
    try (Ends ends = new Ends(Ends.options().keepAlive(SHORT))) {
      Channel server = Ends.bind(ends.server(received));
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);
      SocketChannel accepted = ends.accepted();

      // Long enough for several questions in each direction.
      assertThat(client.closeFuture().await(10 * SHORT.toMillis(), TimeUnit.MILLISECONDS))
          .isFalse();

      assertThat(accepted.isActive()).isTrue();
      client.writeAndFlush(Unpooled.wrappedBuffer(new byte[100])).syncUninterruptibly();
      await().atMost(Ends.LIMIT).until(() -> received.bytes() == 100);
    }
  }
}
