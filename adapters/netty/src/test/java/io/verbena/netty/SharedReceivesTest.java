// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import io.verbena.RdmaOptions;
import io.verbena.core.testing.Addresses;
import io.verbena.netty.wire.Handshake;
import io.verbena.verbs.Capability;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;

/**
 * Tests that the channels of a loop share its receives: a busy channel has many, an idle one few.
 */
class SharedReceivesTest {
  private static final int FIRST = 4;
  private static final Handshake HANDSHAKE = new Handshake(1, false, 4096, 32);

  @Test
  void aChannelBeginsWithFew() throws Exception {
    try (Ends ends = new Ends();
        RawClient peer = new RawClient()) {
      Handshake handshake = connect(peer, Ends.bind(ends.server(new Collector())), HANDSHAKE);

      assertThat(handshake.piece()).isEqualTo(4096);
      assertThat(handshake.receives()).isEqualTo(FIRST);
    }
  }

  @Test
  void aPeerThatSendsMuchIsPromisedMore() throws Exception {
    try (Ends ends = new Ends();
        RawClient peer = new RawClient()) {
      Collector received = new Collector();
      Channel server = Ends.bind(ends.server(received));
      int credits = connect(peer, server, HANDSHAKE).receives();
      int owed = 0;
      long sent = 0;

      for (int round = 0; credits < 4 * FIRST; round++) {
        assertThat(round).as("rounds, with %s credits", credits).isLessThan(1000);
        for (; credits > StreamSendQueue.RESERVED; credits--) {
          peer.send(100, owed);
          sent += 100;
          owed = 0;
        }
        credits += ControlWord.credits(peer.receive());
        owed++;
      }

      long all = sent;
      await().atMost(Ends.LIMIT).until(() -> received.bytes() == all);
    }
  }

  @Test
  void aChannelThatIsIdleGivesBackWhatItDoesNotUse() throws Exception {
    RdmaOptions.Builder options = Ends.options().keepAlive(Duration.ofMillis(200));
    try (Ends ends = new Ends(options);
        RawClient peer = new RawClient()) {
      Collector received = new Collector();
      Channel server = Ends.bind(ends.server(received));
      connect(peer, server, new Handshake(1, false, 4096, FIRST));

      peer.send(10, 20);

      int control = peer.receive();
      while (!ControlWord.isBack(control)) {
        control = peer.receive();
      }
      // The message itself used one.
      assertThat(ControlWord.credits(control)).isEqualTo(20 - 1);
    }
  }

  @Test
  void aPeerThatOverrunsItsCreditsEndsItsConnectionAlone() throws Exception {
    assumeThat(haveSharedQueues()).as("shared receive queues").isTrue();
    ConcurrentLinkedQueue<Collector> handlers = new ConcurrentLinkedQueue<>();
    try (Ends ends = new Ends();
        RawClient peer = new RawClient()) {
      Channel server =
          Ends.bind(
              ends.server(
                      () -> {
                        Collector handler = new Collector();
                        handlers.add(handler);
                        return handler;
                      })
                  .childOption(ChannelOption.AUTO_READ, false));
      SocketChannel good = Ends.connect(ends.client(new Collector()), server);
      SocketChannel goodEnd = ends.accepted();
      connect(peer, server, HANDSHAKE);

      // The channel does not read, and so grants no more credits than the depth of a queue.
      for (int i = 0; i <= RdmaOptions.defaults().receiveDepth(); i++) {
        peer.send(4096, 0);
      }

      assertThat(peer.isDisconnected()).isTrue();
      Collector victim = requireNonNull(handlers.poll());
      Collector guilty = requireNonNull(handlers.poll());
      assertThat(guilty.inactive.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
      assertThat(guilty.events).hasAtLeastOneElementOfType(IOException.class);
      goodEnd.config().setAutoRead(true);
      good.writeAndFlush(Unpooled.copiedBuffer(new byte[7])).syncUninterruptibly();
      await().atMost(Ends.LIMIT).until(() -> victim.bytes() == 7);
    }
  }

  /** The channels are sent more messages than the loop has receives, and read none. */
  @Test
  void channelsThatDoNotReadHoldUpNobodyElse() throws Exception {
    RdmaOptions.Builder options = Ends.options().receiveDepth(FIRST);
    int receives = 64 * FIRST;
    List<SocketChannel> silent = new ArrayList<>();
    Collector received = new Collector();
    try (Ends ends = new Ends(options)) {
      Channel deaf = Ends.bind(ends.server(Sink::new).childOption(ChannelOption.AUTO_READ, false));
      Channel server = Ends.bind(ends.server(received));
      for (int sent = 0; sent <= receives; sent += 2) {
        SocketChannel client = Ends.connect(ends.client(new Sink()), deaf);
        silent.add(client);
        for (int i = 0; i < 2; i++) {
          client.writeAndFlush(Unpooled.copiedBuffer(new byte[4096])).syncUninterruptibly();
        }
      }

      SocketChannel client = Ends.connect(ends.client(new Collector()), server);
      byte[] bytes = new byte[1 << 20];
      new Random(3).nextBytes(bytes);
      client.writeAndFlush(Unpooled.copiedBuffer(bytes)).syncUninterruptibly();

      await().atMost(Ends.LIMIT).until(() -> received.bytes() == bytes.length);
      assertThat(received.sum()).isEqualTo(sum(bytes));
      assertThat(silent).allMatch(Channel::isActive);
    }
  }

  @Test
  void onADeviceWithoutSharedQueuesEachChannelHasItsOwn() throws Exception {
    assumeThat(Addresses.areEmulated()).as("an HCA whose limits can be set").isTrue();
    byte[] bytes = new byte[3 << 20];
    new Random(4).nextBytes(bytes);
    Collector received = new Collector();
    Collector answered = new Collector();
    try (Ends ends = OwnReceivesHca.ends(Ends.options())) {
      SocketChannel client = Ends.connect(ends.client(answered), Ends.bind(ends.server(received)));
      SocketChannel accepted = ends.accepted();

      client.writeAndFlush(Unpooled.copiedBuffer(bytes)).syncUninterruptibly();
      accepted.writeAndFlush(Unpooled.copiedBuffer(bytes)).syncUninterruptibly();

      await().atMost(Ends.LIMIT).until(() -> received.bytes() == bytes.length);
      await().atMost(Ends.LIMIT).until(() -> answered.bytes() == bytes.length);
      assertThat(received.sum()).isEqualTo(sum(bytes));
      assertThat(answered.sum()).isEqualTo(sum(bytes));
      client.close().syncUninterruptibly();
      assertThat(received.inactive.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    }
  }

  private static long sum(byte[] bytes) {
    CRC32 sum = new CRC32();
    sum.update(bytes);
    return sum.getValue();
  }

  private static boolean haveSharedQueues() {
    SharedHca hca = SharedHca.open(Addresses.of("netty"), Ends.options().build());
    try {
      return hca.device().attributes().supports(Capability.SHARED_RECEIVE_QUEUE);
    } finally {
      hca.release();
    }
  }

  private static Handshake connect(RawClient peer, Channel server, Handshake own)
      throws InterruptedException {
    return requireNonNull(
        Handshake.decode(
            peer.connect((InetSocketAddress) server.localAddress(), own.encode()).privateData()));
  }
}
