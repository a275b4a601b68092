// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static io.verbena.netty.SocketWorld.connect;
import static io.verbena.netty.SocketWorld.eventually;
import static io.verbena.netty.SocketWorld.isDone;
import static io.verbena.netty.SocketWorld.outcome;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;
import io.verbena.netty.SocketWorld.Medium;
import io.verbena.netty.SocketWorld.Pair;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/** The rows about the start and the end of channels. */
final class LifeCycleRows {
  private static final String SUBJECT = "life cycle";
  private static final int SMALL = 1000;
  private static final int LARGE = 1_000_000;

  private LifeCycleRows() {}

  /** Records the events of a channel. */
  private static final class Diary extends ChannelInboundHandlerAdapter {
    final Queue<String> told = new ConcurrentLinkedQueue<>();

    @Override
    public void channelRegistered(ChannelHandlerContext context) {
      told.add("registered");
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
      told.add("active");
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      told.add("inactive");
    }

    @Override
    public void channelUnregistered(ChannelHandlerContext context) {
      told.add("unregistered");
    }
  }

  static List<SocketRow> all() {
    return List.of(
        row(
            "what a client's handler is told",
            world -> {
              Diary diary = new Diary();
              SocketChannel client = connect(world.client(diary), world.listen());
              client.close().syncUninterruptibly();
              eventually(() -> diary.told.contains("unregistered"));
              return String.join(", ", diary.told);
            }),
        row(
            "what a server's handler is told",
            world -> {
              Diary diary = new Diary();
              SocketChannel client =
                  connect(world.client(new Sink()), world.listen(world.server(diary)));
              world.accepted();
              client.close().syncUninterruptibly();
              eventually(() -> diary.told.contains("unregistered"));
              return String.join(", ", diary.told);
            }),
        row(
            "a channel after the close",
            world -> {
              SocketChannel client = world.pair().client();
              client.close().syncUninterruptibly();
              return (client.isOpen() ? "open" : "closed")
                  + (client.isActive() ? ", active" : ", inactive")
                  + (client.isInputShutdown() && client.isOutputShutdown() ? ", shut down" : "");
            }),
        row(
            "close twice",
            world -> {
              SocketChannel client = world.pair().client();
              return outcome(client.close()) + ", " + outcome(client.close());
            }),
        row(
            "the peer closes",
            world -> {
              Pair pair = world.pair();
              pair.client().close().syncUninterruptibly();
              eventually(() -> !pair.server().isOpen());
              return pair.atServer().events.isEmpty() ? "closed" : "closed, with an event";
            }),
        row("small writes before the close", world -> writtenBeforeClose(world, SMALL, 100)),
        row(
            "writes before the close of which each is waited for",
            world -> {
              Pair pair = world.pair();
              pair.client()
                  .writeAndFlush(Unpooled.directBuffer(LARGE).writeZero(LARGE))
                  .syncUninterruptibly();
              pair.client().close().syncUninterruptibly();
              eventually(() -> !pair.server().isOpen());
              return pair.atServer().bytes() == LARGE ? "arrive" : "are lost";
            }),
        row(
            "SO_LINGER 3 and a close, what was written",
            world -> {
              Pair pair = world.pair();
              pair.client().config().setSoLinger(3);
              ChannelFuture write =
                  pair.client().writeAndFlush(Unpooled.directBuffer(SMALL).writeZero(SMALL));
              pair.client().close().syncUninterruptibly();
              eventually(() -> !pair.server().isOpen());
              return (pair.atServer().bytes() == SMALL ? "arrives, " : "is lost, ")
                  + outcome(write);
            }),
        row("half-closure", LifeCycleRows::halfClosure),
        row(
            "shutdownOutput where the peer does not allow half-closure",
            world -> {
              Pair pair = world.pair();
              pair.client().shutdownOutput().syncUninterruptibly();
              eventually(() -> !pair.server().isOpen());
              return "the peer closes";
            }),
        row(
            "shutdownInput, and then what is read and written",
            world -> {
              Pair pair = world.pair();
              pair.client().shutdownInput().syncUninterruptibly();
              pair.server()
                  .writeAndFlush(Unpooled.wrappedBuffer(new byte[10]))
                  .awaitUninterruptibly();
              pair.client()
                  .writeAndFlush(Unpooled.wrappedBuffer(new byte[10]))
                  .syncUninterruptibly();
              eventually(() -> pair.atServer().bytes() == 10);
              return (pair.client().isInputShutdown() ? "shut down" : "open")
                  + (pair.atClient().bytes() == 0 ? ", nothing" : ", bytes")
                  + ", arrives";
            }),
        row(
            "disconnect",
            world -> {
              SocketChannel client = world.pair().client();
              return outcome(client.disconnect()) + (client.isOpen() ? ", open" : ", closed");
            }),
        row(
            "a connect is cancelled",
            world -> {
              Channel server = world.listen();
              Channel client = world.client(new Sink()).register().syncUninterruptibly().channel();
              client
                  .eventLoop()
                  .submit(() -> client.connect(server.localAddress()).cancel(true))
                  .syncUninterruptibly();
              return client.closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())
                  ? "the channel closes"
                  : "the channel stays";
            }),
        row(
            "the server closes, its connections",
            world -> {
              Pair pair = world.pair();
              pair.listener().close().syncUninterruptibly();
              pair.client()
                  .writeAndFlush(Unpooled.wrappedBuffer(new byte[10]))
                  .syncUninterruptibly();
              eventually(() -> pair.atServer().bytes() == 10);
              return "stay";
            }),
        row(
            "a client connects again after the server did",
            world -> {
              Channel server = world.listen();
              SocketChannel client = connect(world.client(new Sink()), server);
              world.accepted().close().syncUninterruptibly();
              eventually(() -> !client.isOpen());
              return outcome(world.client(new Sink()).connect(server.localAddress()));
            }),
        row(
            "a channel is deregistered",
            world -> {
              SocketChannel client = world.pair().client();
              client.deregister().syncUninterruptibly();
              return client.isOpen() ? "stays open" : "closes";
            }),
        row(
            "the client's loops shut down",
            world -> {
              try (SocketWorld own = world.another(SocketWorld.options())) {
                Pair pair = own.pair();
                own.clients().shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
                eventually(() -> !pair.server().isOpen());
                return (pair.client().isOpen() ? "open" : "closed") + ", the peer learns of it";
              }
            }),
        row("one factory for boss and one for workers", LifeCycleRows::bossAndWorkers),
        row(
            "a channel is registered with a loop that is shut down",
            world -> {
              try (SocketWorld own = world.another(SocketWorld.options())) {
                own.clients().shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
                return outcome(own.client(new Sink()).register());
              }
            }),
        row(
            "AUTO_READ off, the peer closes",
            world -> {
              Collector received = new Collector();
              Channel server =
                  world.listen(world.server(received).childOption(ChannelOption.AUTO_READ, false));
              SocketChannel client = connect(world.client(new Sink()), server);
              SocketChannel accepted = world.accepted();
              client.close().syncUninterruptibly();
              return isDone(accepted.closeFuture(), world.medium() != Medium.NIO)
                  ? "the channel closes"
                  : "the channel stays until it reads";
            }));
  }

  private static SocketRow row(String name, SocketRow.Probe probe) {
    return new SocketRow(SUBJECT, name, probe);
  }

  private static String writtenBeforeClose(SocketWorld world, int length, int count)
      throws InterruptedException {
    Pair pair = world.pair();
    pair.client()
        .eventLoop()
        .submit(
            () -> {
              for (int i = 0; i < count; i++) {
                ChannelFuture unused =
                    pair.client().write(Unpooled.directBuffer(length).writeZero(length));
              }
              pair.client().flush();
              ChannelFuture unused = pair.client().close();
            })
        .syncUninterruptibly();
    eventually(() -> !pair.server().isOpen());
    return pair.atServer().bytes() == (long) length * count ? "arrive" : "are lost";
  }

  private static String halfClosure(SocketWorld world) throws InterruptedException {
    Collector atServer = new Collector();
    Collector atClient = new Collector();
    Channel server =
        world.listen(world.server(atServer).childOption(ChannelOption.ALLOW_HALF_CLOSURE, true));
    SocketChannel client = connect(world.client(atClient), server);
    SocketChannel accepted = world.accepted();
    client.shutdownOutput().syncUninterruptibly();
    eventually(() -> atServer.events.contains(ChannelInputShutdownEvent.INSTANCE));
    accepted.writeAndFlush(Unpooled.wrappedBuffer(new byte[10])).syncUninterruptibly();
    eventually(() -> atClient.bytes() == 10);
    accepted.close().syncUninterruptibly();
    eventually(() -> !client.isOpen());
    return "told, and the other way works";
  }

  private static String bossAndWorkers(SocketWorld world) {
    EventLoopGroup boss = new MultiThreadIoEventLoopGroup(1, world.serverFactory());
    EventLoopGroup workers = new MultiThreadIoEventLoopGroup(1, world.serverFactory());
    try {
      Channel server =
          new ServerBootstrap()
              .group(boss, workers)
              .channel(world.serverType())
              .childHandler(new Sink())
              .bind(world.anyPort())
              .syncUninterruptibly()
              .channel();
      SocketChannel client = connect(world.client(new Sink()), server);
      return outcome(client.writeAndFlush(Unpooled.wrappedBuffer(new byte[10])));
    } finally {
      Future<?> bossEnds = boss.shutdownGracefully(0, 5, TimeUnit.SECONDS);
      workers.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
      bossEnds.syncUninterruptibly();
    }
  }
}
