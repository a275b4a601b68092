// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.socket.SocketChannel;
import io.verbena.MemoryLimitException;
import io.verbena.core.testing.Addresses;
import java.io.IOException;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;

/** Tests channels at the limit of registered memory, and of all memory. */
class MemoryLimitTest {
  /** An allocator that has no memory left. */
  private static final class Exhausted extends AbstractByteBufAllocator {
    Exhausted() {
      super(/* preferDirect= */ true);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
      throw new OutOfMemoryError("test");
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
      throw new OutOfMemoryError("test");
    }

    @Override
    public boolean isDirectBufferPooled() {
      return true;
    }
  }

  @Test
  void aConnectionThatHasNoMemoryForItsReceivesFails() {
    assumeThat(Addresses.areEmulated()).as("an HCA whose limits can be set").isTrue();
    try (Ends ends = OwnReceivesHca.ends(Ends.options().maxRegisteredBytes(1 << 18))) {
      Channel server = Ends.bind(ends.server(Collector::new));
      List<SocketChannel> connected = new ArrayList<>();
      Throwable failure = null;
      while (failure == null && connected.size() < 1000) {
        ChannelFuture connecting = ends.client(new Collector()).connect(server.localAddress());
        assertThat(connecting.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
        failure = connecting.cause();
        if (failure == null) {
          connected.add((SocketChannel) connecting.channel());
        }
      }

      assertThat(failure).isInstanceOf(IOException.class);
      assertThat(connected).isNotEmpty().allMatch(Channel::isActive);
      assertThat(failure)
          .satisfiesAnyOf(
              ours -> assertThat(ours).hasCauseInstanceOf(MemoryLimitException.class),
              theServers -> assertThat(theServers).isInstanceOf(ConnectException.class));
    }
  }

  @Test
  void aConnectionThatAServerHasNoMemoryForLeavesItsLoop() throws Exception {
    assumeThat(Addresses.areEmulated()).as("an HCA whose limits can be set").isTrue();
    try (Ends ends = OwnReceivesHca.ends(Ends.options().maxRegisteredBytes(1 << 18));
        Ends clients = OwnReceivesHca.ends(Ends.options())) {
      Channel server = Ends.bind(ends.server(Collector::new));
      int connected = 0;
      int refused = 0;
      while (refused < 10) {
        ChannelFuture connecting = clients.client(new Collector()).connect(server.localAddress());
        assertThat(connecting.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
        if (connecting.isSuccess()) {
          connected++;
        } else {
          assertThat(connecting.cause()).isInstanceOf(ConnectException.class);
          refused++;
        }
      }

      RdmaIoHandler loop = requireNonNull(((RdmaSocketChannel) ends.accepted()).handler());
      // The listening channel is on the same loop.
      int expected = connected + 1;
      await()
          .atMost(Ends.LIMIT)
          .until(() -> server.eventLoop().submit(loop::registrations).get() == expected);
    }
  }

  /** Handlers do not expect such a limit. */
  @Test
  void theAllocatorOfAChannelFallsBackToMemoryThatIsNotRegistered() {
    Collector received = new Collector();
    List<ByteBuf> held = new ArrayList<>();
    try (Ends ends = new Ends(Ends.options().maxRegisteredBytes(1 << 20))) {
      Channel server = Ends.bind(ends.server(received));
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);
      for (int i = 0; i < 40; i++) {
        held.add(client.alloc().directBuffer(64 << 10).writeZero(64 << 10));
      }

      // Larger than the free registered memory: the buffer grows, where a strict allocator would
      // fail.
      ByteBuf grows = client.alloc().ioBuffer(100);
      byte[] bytes = new byte[200_000];
      new Random(5).nextBytes(bytes);
      grows.writeBytes(bytes);
      client.writeAndFlush(grows).syncUninterruptibly();

      await().atMost(Ends.LIMIT).until(() -> received.bytes() == bytes.length);
      CRC32 sent = new CRC32();
      sent.update(bytes);
      assertThat(received.sum()).isEqualTo(sent.getValue());
      held.forEach(ByteBuf::release);
      held.clear();
    }
  }

  @Test
  void bytesAreCopiedWhereThereIsNoMemoryToHandOut() {
    byte[] bytes = new byte[6 << 20];
    new Random(5).nextBytes(bytes);
    CRC32 sent = new CRC32();
    sent.update(bytes);
    Collector received = new Collector();
    try (Ends ends = new Ends(Ends.options().eagerSize(64 << 10).maxRegisteredBytes(1 << 20))) {
      Channel server = Ends.bind(ends.server(received));
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);

      client.writeAndFlush(Unpooled.wrappedBuffer(bytes)).syncUninterruptibly();
      client
          .writeAndFlush(Unpooled.directBuffer(bytes.length).writeBytes(bytes))
          .syncUninterruptibly();

      sent.update(bytes);
      await().atMost(Ends.LIMIT).until(() -> received.bytes() == 2L * bytes.length);
      assertThat(received.sum()).isEqualTo(sent.getValue());
    }
  }

  @Test
  void aChannelWithoutMemoryToReadIntoClosesAndTheOthersOfItsLoopGoOn() throws Exception {
    Collector victim = new Collector();
    Collector bystander = new Collector();
    Collector third = new Collector();
    try (Ends ends = new Ends()) {
      Collector[] handlers = {victim, bystander, third};
      int[] next = {0};
      Channel server = Ends.bind(ends.server(() -> handlers[next[0]++]));
      SocketChannel first = Ends.connect(ends.client(new Collector()), server);
      SocketChannel accepted = ends.accepted();
      SocketChannel second = Ends.connect(ends.client(new Collector()), server);
      await().atMost(Ends.LIMIT).until(accepted::isActive);
      accepted.config().setAllocator(new Exhausted());

      first.writeAndFlush(Unpooled.wrappedBuffer(new byte[10])).syncUninterruptibly();

      assertThat(victim.inactive.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
      assertThat(victim.events).hasAtLeastOneElementOfType(OutOfMemoryError.class);
      second.writeAndFlush(Unpooled.wrappedBuffer(new byte[7])).syncUninterruptibly();
      await().atMost(Ends.LIMIT).until(() -> bystander.bytes() == 7);
      SocketChannel more = Ends.connect(ends.client(new Collector()), server);
      more.writeAndFlush(Unpooled.wrappedBuffer(new byte[3])).syncUninterruptibly();
      await().atMost(Ends.LIMIT).until(() -> third.bytes() == 3);
    }
  }

  /** The program's own allocator may throw before there is a buffer to read into. */
  @Test
  void aChannelWhoseReceiveAllocatorThrowsClosesAndItsLoopGoesOn() throws Exception {
    Collector victim = new Collector();
    Collector bystander = new Collector();
    try (Ends ends = new Ends()) {
      Collector[] handlers = {victim, bystander};
      int[] next = {0};
      Channel server = Ends.bind(ends.server(() -> handlers[next[0]++]));
      SocketChannel first = Ends.connect(ends.client(new Collector()), server);
      SocketChannel accepted = ends.accepted();
      await().atMost(Ends.LIMIT).until(accepted::isActive);
      accepted
          .config()
          .setRecvByteBufAllocator(
              () -> {
                throw new IllegalStateException("test");
              });

      first.writeAndFlush(Unpooled.wrappedBuffer(new byte[10])).syncUninterruptibly();

      assertThat(victim.inactive.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
      assertThat(victim.events).hasAtLeastOneElementOfType(IllegalStateException.class);
      SocketChannel second = Ends.connect(ends.client(new Collector()), server);
      second.writeAndFlush(Unpooled.wrappedBuffer(new byte[7])).syncUninterruptibly();
      await().atMost(Ends.LIMIT).until(() -> bystander.bytes() == 7);
    }
  }
}
