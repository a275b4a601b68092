// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.SocketChannel;
import io.verbena.core.testing.Addresses;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests channels with their own receive queues on an HCA whose posts are costly. */
class OwnReceivesTest {
  private static final int FIRST = 4;

  /** The number of messages that a peer may send at first: two credits are reserved. */
  private static final int BURST = 2;

  private static final int LENGTH = 1000;
  private static final String HCA =
      "://own-receives?mode=async&seed=1&max-shared-receive-requests=4";

  private final SentRequests sent = new SentRequests();
  private final Collector[] received = {new Collector(), new Collector()};
  private int accepted;
  private Ends ends;
  private Channel server;

  @BeforeEach
  void bind() {
    assumeThat(Addresses.areEmulated()).as("an HCA whose limits can be set").isTrue();
    ends =
        new Ends(
            Ends.options().meters(sent),
            URI.create("observed" + HCA),
            URI.create("emulated" + HCA));
    server = Ends.bind(ends.server(() -> received[accepted++]));
  }

  /** Fails if anything is still open; the leak detector checks the buffers. */
  @AfterEach
  void close() {
    if (ends != null) {
      ends.close();
    }
  }

  /** Sends a burst that arrives within one turn of the other end's loop. */
  private void sendBurst(SocketChannel from, SocketChannel to) {
    await().atMost(Ends.LIMIT).until(() -> to.isActive() && sent.inFlight.get() == 0);
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch arrived = new CountDownLatch(1);
    to.eventLoop()
        .execute(
            () -> {
              held.countDown();
              hold(arrived);
            });
    hold(held);
    for (int i = 0; i < BURST; i++) {
      from.writeAndFlush(Unpooled.wrappedBuffer(new byte[LENGTH])).syncUninterruptibly();
    }
    await().atMost(Ends.LIMIT).until(() -> sent.inFlight.get() == 0);
    // This HCA may deliver a receive completion after it has completed the send.
    await().atMost(Ends.LIMIT).until(() -> ObservedProvider.completionsWaiting() == BURST);
    assertThat(sent.gathered).hasSize(BURST);
    ObservedProvider.receives().clear();
    arrived.countDown();
  }

  private static void hold(CountDownLatch latch) {
    try {
      assertThat(latch.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void theReceivesOfATurnArePostedAsOneList() throws Exception {
    SocketChannel client = Ends.connect(ends.client(new Collector()), server);

    sendBurst(client, ends.accepted());

    await().atMost(Ends.LIMIT).until(() -> received[0].bytes() == BURST * LENGTH);
    await().atMost(Ends.LIMIT).until(() -> !ObservedProvider.receives().isEmpty());
    // The receives that were read, and as many new ones as there were, as half of them were filled.
    assertThat(ObservedProvider.receives()).first().isEqualTo(BURST + FIRST);
  }

  @Test
  void aChannelWhoseReceivesAreRefusedClosesAndTheOthersOfItsLoopGoOn() throws Exception {
    SocketChannel first = Ends.connect(ends.client(new Collector()), server);
    SocketChannel second = Ends.connect(ends.client(new Collector()), server);
    SocketChannel victim = ends.accepted();
    SocketChannel bystander = ends.accepted();
    await().atMost(Ends.LIMIT).until(() -> victim.isActive() && bystander.isActive());

    ObservedProvider.refuseReceives();
    first.writeAndFlush(Unpooled.wrappedBuffer(new byte[10])).syncUninterruptibly();

    assertThat(received[0].inactive.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    assertThat(received[0].events)
        .filteredOn(IOException.class::isInstance)
        .singleElement()
        .asInstanceOf(InstanceOfAssertFactories.THROWABLE)
        .hasMessageContaining("the HCA takes no more receives")
        .rootCause()
        .hasMessageContaining(ObservedProvider.MESSAGE);
    second.writeAndFlush(Unpooled.wrappedBuffer(new byte[7])).syncUninterruptibly();
    await().atMost(Ends.LIMIT).until(() -> received[1].bytes() == 7);
  }

  @Test
  void aChannelClosesWhileItsReceivesWaitToBePosted() throws Exception {
    Channel closing = Ends.bind(ends.server(Closer::new));
    SocketChannel client = Ends.connect(ends.client(new Collector()), closing);
    SocketChannel closed = ends.accepted();

    sendBurst(client, closed);

    assertThat(closed.closeFuture().await(Ends.LIMIT.toMillis())).isTrue();
    assertThat(client.closeFuture().await(Ends.LIMIT.toMillis())).isTrue();
    SocketChannel next = Ends.connect(ends.client(new Collector()), server);
    next.writeAndFlush(Unpooled.wrappedBuffer(new byte[7])).syncUninterruptibly();
    await().atMost(Ends.LIMIT).until(() -> received[0].bytes() == 7);
  }

  /** Closes its channel at the first bytes. */
  private static final class Closer extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ((ByteBuf) message).release();
      var unused = context.close();
    }
  }
}
