// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.SimpleChannelInboundHandler;
import io.verbena.core.micrometer.VerbenaMeters;
import io.verbena.core.testing.Addresses;
import java.io.IOException;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests many channels that open, close and reopen at once. {@code -Dverbena.storm=5000} sets their
 * number.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class StormTest {
  private static final int MANY =
      Integer.getInteger("verbena.storm", Math.max(50, Addresses.rounds(300)));

  private static final Duration PATIENCE = Addresses.within(Duration.ofSeconds(20 + MANY / 50));

  /** A backlog for all channels: a connect that finds it full is rejected, as documented. */
  private static final int BACKLOG = MANY;

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

  private Ends ends() {
    return new Ends(
        Ends.options()
            .eagerSize(256)
            .receiveDepth(4)
            .sendDepth(4)
            .closeTimeout(PATIENCE)
            .meters(new VerbenaMeters(registry)));
  }

  private static Channel bind(Ends ends, SocketAddress at) {
    return ends.server(Echo::new)
        .option(ChannelOption.SO_BACKLOG, BACKLOG)
        .childOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) PATIENCE.toMillis())
        .bind(at)
        .syncUninterruptibly()
        .channel();
  }

  private static Bootstrap client(Ends ends, Client handler) {
    return ends.client(handler)
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) PATIENCE.toMillis());
  }

  private double sum(String gauge) {
    return registry.find(gauge).gauges().stream().mapToDouble(Gauge::value).sum();
  }

  private void awaitIdle(double memory) {
    await().atMost(PATIENCE).until(() -> sum("verbena.connections") == 0);
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> assertThat(sum("verbena.memory.registered")).isLessThanOrEqualTo(memory));
    assertThat(sum("verbena.completion.queue.reserved")).isZero();
    assertThat(sum("verbena.send.queue.depth")).isZero();
  }

  private double idleMemory(Ends ends, Channel server) {
    Client one = new Client();
    Channel channel =
        client(ends, one).connect(server.localAddress()).syncUninterruptibly().channel();
    await().atMost(PATIENCE).until(() -> one.echoed > 0);
    channel.close().syncUninterruptibly();
    await().atMost(PATIENCE).until(() -> sum("verbena.connections") == 0);
    return sum("verbena.memory.registered");
  }

  private static final class Echo extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      var unused = context.writeAndFlush(message);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      var unused = context.close();
    }
  }

  /** Requests one echo after the other. */
  private static class Client extends SimpleChannelInboundHandler<ByteBuf> {
    final Queue<Object> wrongs = new ConcurrentLinkedQueue<>();
    volatile int echoed;
    volatile boolean enough;

    @Override
    public boolean isSharable() {
      return true;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
      ask(context);
    }

    private void ask(ChannelHandlerContext context) {
      var unused = context.writeAndFlush(Unpooled.buffer(1).writeByte(echoed));
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // one channel at a time, on one loop
    protected void channelRead0(ChannelHandlerContext context, ByteBuf answer) {
      int number = answer.readByte();
      if (number != (byte) echoed || answer.isReadable()) {
        wrongs.add(number + " instead of " + (byte) echoed);
      }
      echoed++;
      if (!enough) {
        ask(context);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      if (!(cause instanceof IOException)) {
        wrongs.add(cause);
      }
      var unused = context.close();
    }
  }

  /** Reconnects after a random delay when its channel ends. */
  private static final class Returning extends Client {
    private final Ends ends;
    private final SocketAddress to;
    volatile int connects;

    Returning(Ends ends, SocketAddress to) {
      this.ends = ends;
      this.to = to;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one channel at a time, on one loop
    void connect() {
      client(ends, this)
          .connect(to)
          .addListener(
              (ChannelFuture connecting) -> {
                if (connecting.isSuccess()) {
                  connects++;
                  connecting.channel().closeFuture().addListener(closed -> again(connecting));
                } else if (connecting.cause() instanceof IOException) {
                  again(connecting);
                } else {
                  wrongs.add(connecting.cause());
                }
              });
    }

    private void again(ChannelFuture connecting) {
      if (!enough) {
        var unused =
            connecting
                .channel()
                .eventLoop()
                .schedule(
                    this::connect,
                    ThreadLocalRandom.current().nextInt(20, 300),
                    TimeUnit.MILLISECONDS);
      }
    }
  }

  @Test
  void allWhoConnectAtOnceAreServedAndAllCloseAtOnce() {
    try (Ends ends = ends()) {
      Channel server = bind(ends, Ends.anyPort());
      double memory = idleMemory(ends, server);
      List<Client> clients = new ArrayList<>();
      List<ChannelFuture> connecting = new ArrayList<>();
      for (int i = 0; i < MANY; i++) {
        clients.add(new Client());
        connecting.add(client(ends, clients.get(i)).connect(server.localAddress()));
      }
      connecting.forEach(ChannelFuture::syncUninterruptibly);
      await().atMost(PATIENCE).until(() -> clients.stream().allMatch(each -> each.echoed > 2));

      for (ChannelFuture each : connecting) {
        var unused = each.channel().close();
      }

      assertThat(clients).allSatisfy(each -> assertThat(each.wrongs).isEmpty());
      awaitIdle(memory);
    }
  }

  @Test
  void clientsOfAServerThatIsRestartedLoseNothingButWhatWasUnderWay() {
    try (Ends ends = ends()) {
      Channel server = bind(ends, Ends.anyPort());
      SocketAddress at = server.localAddress();
      double memory = idleMemory(ends, server);
      List<Returning> clients = new ArrayList<>();
      for (int i = 0; i < MANY; i++) {
        clients.add(new Returning(ends, at));
        clients.get(i).connect();
      }
      await().atMost(PATIENCE).until(() -> clients.stream().allMatch(each -> each.echoed > 2));
      int[] connects = clients.stream().mapToInt(each -> each.connects).toArray();

      server.close().syncUninterruptibly();
      ends.closeAccepted();
      bind(ends, at);

      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () -> {
                for (int i = 0; i < MANY; i++) {
                  assertThat(clients.get(i).connects).as("client %s", i).isGreaterThan(connects[i]);
                }
              });
      int[] echoed = clients.stream().mapToInt(each -> each.echoed).toArray();
      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () -> {
                for (int i = 0; i < MANY; i++) {
                  assertThat(clients.get(i).echoed).as("client %s", i).isGreaterThan(echoed[i]);
                }
              });
      clients.forEach(each -> each.enough = true);
      assertThat(clients).allSatisfy(each -> assertThat(each.wrongs).isEmpty());
      ends.closeAccepted();
      awaitIdle(memory);
    }
  }
}
