// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static io.verbena.netty.SocketWorld.connect;
import static io.verbena.netty.SocketWorld.eventually;
import static io.verbena.netty.SocketWorld.isDone;
import static io.verbena.netty.SocketWorld.isDoneSoon;
import static io.verbena.netty.SocketWorld.name;
import static io.verbena.netty.SocketWorld.outcome;

import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultMessageSizeEstimator;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioChannelOption;
import io.verbena.netty.SocketWorld.Medium;
import java.net.StandardSocketOptions;
import java.util.ArrayList;
import java.util.List;

/** The rows about options: which of them are supported, with which values and effects. */
@SuppressWarnings("deprecation") // for options that Netty still has
final class OptionRows {
  private static final String SUBJECT = "options";

  private OptionRows() {}

  static List<SocketRow> all() {
    List<SocketRow> rows = new ArrayList<>();
    client(rows, ChannelOption.ALLOCATOR, UnpooledByteBufAllocator.DEFAULT);
    client(rows, ChannelOption.RECVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(100));
    client(rows, ChannelOption.MESSAGE_SIZE_ESTIMATOR, DefaultMessageSizeEstimator.DEFAULT);
    client(rows, ChannelOption.CONNECT_TIMEOUT_MILLIS, 100);
    client(rows, ChannelOption.MAX_MESSAGES_PER_READ, 2);
    client(rows, ChannelOption.MAX_MESSAGES_PER_WRITE, 2);
    client(rows, ChannelOption.WRITE_SPIN_COUNT, 3);
    client(rows, ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(1, 2));
    client(rows, ChannelOption.ALLOW_HALF_CLOSURE, true);
    client(rows, ChannelOption.AUTO_READ, false);
    client(rows, ChannelOption.AUTO_CLOSE, false);
    client(rows, ChannelOption.SO_BROADCAST, true);
    client(rows, ChannelOption.SO_KEEPALIVE, true);
    client(rows, ChannelOption.SO_SNDBUF, 10_000);
    client(rows, ChannelOption.SO_RCVBUF, 10_000);
    client(rows, ChannelOption.SO_REUSEADDR, true);
    client(rows, ChannelOption.SO_LINGER, 3);
    client(rows, ChannelOption.SO_BACKLOG, 3);
    client(rows, ChannelOption.SO_TIMEOUT, 3);
    client(rows, ChannelOption.IP_TOS, 0x10);
    client(rows, ChannelOption.IP_MULTICAST_TTL, 3);
    client(rows, ChannelOption.TCP_NODELAY, true);
    client(rows, ChannelOption.TCP_FASTOPEN_CONNECT, true);
    client(rows, NioChannelOption.of(StandardSocketOptions.SO_SNDBUF), 10_000);
    server(rows, ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT);
    server(rows, ChannelOption.AUTO_READ, false);
    server(rows, ChannelOption.SO_BACKLOG, 3);
    server(rows, ChannelOption.SO_RCVBUF, 10_000);
    server(rows, ChannelOption.SO_REUSEADDR, true);
    server(rows, ChannelOption.SO_TIMEOUT, 3);
    server(rows, ChannelOption.TCP_NODELAY, true);
    server(rows, ChannelOption.TCP_FASTOPEN, 3);
    unset(rows, ChannelOption.ALLOW_HALF_CLOSURE);
    unset(rows, ChannelOption.AUTO_READ);
    unset(rows, ChannelOption.AUTO_CLOSE);
    unset(rows, ChannelOption.CONNECT_TIMEOUT_MILLIS);
    unset(rows, ChannelOption.SO_LINGER);
    unset(rows, ChannelOption.SO_REUSEADDR);
    unset(rows, ChannelOption.TCP_NODELAY);
    unset(rows, ChannelOption.IP_TOS);
    unset(rows, ChannelOption.WRITE_SPIN_COUNT);
    unset(rows, ChannelOption.WRITE_BUFFER_WATER_MARK);
    rows.add(
        row(
            "SO_LINGER -5",
            world -> {
              try {
                world.pair().client().config().setSoLinger(-5);
                return "taken";
              } catch (RuntimeException e) {
                return name(e);
              }
            }));
    rows.add(
        row(
            "SO_BACKLOG 0 and a connect",
            world ->
                outcome(
                    world
                        .client(new Sink())
                        .connect(
                            world
                                .listen(
                                    world.server(new Sink()).option(ChannelOption.SO_BACKLOG, 0))
                                .localAddress()))));
    rows.add(
        row(
            "AUTO_READ off, what arrives before and after a read",
            world -> {
              Collector received = new Collector();
              Channel server =
                  world.listen(world.server(received).childOption(ChannelOption.AUTO_READ, false));
              SocketChannel client = connect(world.client(new Sink()), server);
              SocketChannel accepted = world.accepted();
              client.writeAndFlush(Unpooled.wrappedBuffer(new byte[10])).syncUninterruptibly();
              boolean before = isDoneSoon(accepted.closeFuture()) || received.bytes() > 0;
              accepted.read();
              eventually(() -> received.bytes() == 10);
              return (before ? "all" : "nothing") + ", all";
            }));
    rows.add(
        row(
            "AUTO_READ switched off while nothing comes, what arrives then",
            world -> {
              SocketWorld.Pair pair = world.pair();
              Collector received = pair.atServer();
              write(pair.client(), 5);
              eventually(() -> received.bytes() == 5);
              pair.server().config().setAutoRead(false);
              // The channel stops reading in a task of the loop, as NIO's channel does.
              pair.server().eventLoop().submit(() -> {}).sync();
              write(pair.client(), 10);
              boolean soon = isDoneSoon(pair.server().closeFuture()) || received.bytes() > 5;
              pair.server().config().setAutoRead(true);
              eventually(() -> received.bytes() == 15);
              return (soon ? "all" : "nothing") + ", and once it is on again all";
            }));
    rows.add(
        row(
            "AUTO_READ switched off and on while nothing comes, what arrives then",
            world -> {
              SocketWorld.Pair pair = world.pair();
              Collector received = pair.atServer();
              write(pair.client(), 5);
              eventually(() -> received.bytes() == 5);
              pair.server().config().setAutoRead(false);
              pair.server().config().setAutoRead(true);
              write(pair.client(), 10);
              eventually(() -> received.bytes() == 15);
              return "all";
            }));
    rows.add(
        row(
            "AUTO_READ off at a server, a connect",
            world -> {
              Channel server =
                  world.listen(world.server(new Sink()).option(ChannelOption.AUTO_READ, false));
              ChannelFuture connect = world.client(new Sink()).connect(server.localAddress());
              boolean soon = isDone(connect, world.medium() == Medium.NIO);
              server.read();
              return (soon ? "succeeds" : "waits for the server to read") + ", " + outcome(connect);
            }));
    rows.add(
        row(
            "SO_BACKLOG 1 and 20 connects, if the server does not read",
            world -> {
              Channel server =
                  world.listen(
                      world
                          .server(new Sink())
                          .option(ChannelOption.SO_BACKLOG, 1)
                          .option(ChannelOption.AUTO_READ, false));
              boolean failed = false;
              for (int i = 0; i < 20 && !failed; i++) {
                ChannelFuture connect = world.client(new Sink()).connect(server.localAddress());
                failed = isDoneSoon(connect) && !connect.isSuccess();
              }
              return failed ? "the last are rejected" : "the last wait";
            }));
    return List.copyOf(rows);
  }

  private static void write(SocketChannel channel, int length) {
    channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[length])).syncUninterruptibly();
  }

  private static SocketRow row(String name, SocketRow.Probe probe) {
    return new SocketRow(SUBJECT, name, probe);
  }

  private static <T> void client(List<SocketRow> rows, ChannelOption<T> option, T value) {
    rows.add(
        row(
            shortName(option) + ", at a client",
            world ->
                set(
                    world.client(new Sink()).register().syncUninterruptibly().channel(),
                    option,
                    value)));
  }

  private static <T> void server(List<SocketRow> rows, ChannelOption<T> option, T value) {
    rows.add(row(shortName(option) + ", at a server", world -> set(world.listen(), option, value)));
  }

  /** Returns the option's name without the class that Netty puts before some names. */
  private static String shortName(ChannelOption<?> option) {
    String name = option.name();
    return name.substring(name.lastIndexOf('#') + 1)
        + (option instanceof NioChannelOption ? " of the JDK" : "");
  }

  private static <T> String set(Channel channel, ChannelOption<T> option, T value) {
    try {
      if (!channel.config().setOption(option, value)) {
        return "refused";
      }
    } catch (RuntimeException e) {
      return name(e);
    }
    // The system doubles buffer sizes.
    Object kept = channel.config().getOption(option);
    return value.equals(kept) || option.name().contains("BUF") ? "taken" : "taken, not kept";
  }

  private static void unset(List<SocketRow> rows, ChannelOption<?> option) {
    rows.add(
        row(
            option.name() + " if nobody sets it",
            world ->
                String.valueOf(
                        world
                            .client(new Sink())
                            .register()
                            .syncUninterruptibly()
                            .channel()
                            .config()
                            .getOption(option))
                    .replaceFirst("^WriteBufferWaterMark", "")));
  }
}
