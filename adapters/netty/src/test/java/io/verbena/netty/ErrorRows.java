// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static io.verbena.netty.SocketWorld.connect;
import static io.verbena.netty.SocketWorld.eventually;
import static io.verbena.netty.SocketWorld.name;
import static io.verbena.netty.SocketWorld.outcome;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.socket.SocketChannel;
import io.verbena.netty.SocketWorld.Pair;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;

/** The rows about failed operations. */
final class ErrorRows {
  /** The port of an obsolete service, as another program may take a free port at any moment. */
  private static final int RESERVED_PORT = 1;

  private static final String SUBJECT = "errors";

  /** An address of a network for documentation (RFC 5737), which no machine has. */
  private static final String NOBODYS = "192.0.2.1";

  /** A loopback address without an HCA. */
  private static final String WITHOUT_HCA = "127.99.99.99";

  private ErrorRows() {}

  static List<SocketRow> all() {
    return List.of(
        row(
            "connect where nobody listens",
            world -> {
              InetSocketAddress server = world.listen().localAddress();
              InetSocketAddress nobody = new InetSocketAddress(server.getAddress(), RESERVED_PORT);
              ChannelFuture refused = world.client(new Sink()).connect(nobody);
              return outcome(refused)
                  + ", "
                  + (refused.cause().getMessage().startsWith("Connection refused")
                      ? "refused"
                      : "another reason");
            }),
        row(
            "connect to an address of the loopback where no HCA is",
            world -> {
              ChannelFuture connect =
                  world
                      .client(new Sink())
                      .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) Ends.LIMIT.toMillis() / 2)
                      .connect(WITHOUT_HCA, 9);
              return outcome(connect)
                  + ", "
                  + (connect.cause() instanceof ConnectTimeoutException ? "late" : "at once");
            }),
        row(
            "connect to a name that nobody looked up",
            world ->
                outcome(
                    registered(world)
                        .connect(InetSocketAddress.createUnresolved("no.such.host", 9)))),
        row(
            "connect to an address of another kind",
            world -> outcome(registered(world).connect(new LocalAddress("a")))),
        row(
            "connect twice",
            world -> {
              Pair pair = world.pair();
              return outcome(pair.client().connect(pair.listener().localAddress()));
            }),
        row(
            "connect again before the first one is done",
            world -> {
              Channel server = world.listen();
              Channel client = registered(world);
              ChannelFuture[] second = new ChannelFuture[1];
              client
                  .eventLoop()
                  .submit(
                      () -> {
                        ChannelFuture unused = client.connect(server.localAddress());
                        second[0] = client.connect(server.localAddress());
                      })
                  .syncUninterruptibly();
              return outcome(second[0]);
            }),
        row(
            "connect a channel that is closed",
            world -> {
              Pair pair = world.pair();
              pair.client().close().syncUninterruptibly();
              return outcome(pair.client().connect(pair.listener().localAddress()));
            }),
        row(
            "close while it connects",
            world -> {
              Channel server = world.listen();
              Channel client = registered(world);
              ChannelFuture[] connect = new ChannelFuture[1];
              client
                  .eventLoop()
                  .submit(
                      () -> {
                        connect[0] = client.connect(server.localAddress());
                        ChannelFuture unused = client.close();
                      })
                  .syncUninterruptibly();
              return connect[0].awaitUninterruptibly(Ends.LIMIT.toMillis())
                  ? client.isOpen() ? "open" : "closed"
                  : "hangs";
            }),
        row(
            "a server binds an address twice",
            world -> {
              Channel server = world.listen();
              return outcome(world.server(new Sink()).bind(server.localAddress()));
            }),
        row(
            "a server binds an address that is not this machine's",
            world -> outcome(world.server(new Sink()).bind(NOBODYS, 0))),
        row(
            "a client binds an address that is not this machine's",
            world -> outcome(registered(world).bind(new InetSocketAddress(NOBODYS, 0)))),
        row(
            "a client connects from an address that is not this machine's",
            world ->
                outcome(
                    world
                        .client(new Sink())
                        .connect(
                            world.listen().localAddress(), new InetSocketAddress(NOBODYS, 0)))),
        row(
            "a client binds twice",
            world -> {
              Channel client = registered(world);
              client.bind(new InetSocketAddress(world.clientHost(), 0)).syncUninterruptibly();
              return outcome(client.bind(new InetSocketAddress(world.clientHost(), 0)));
            }),
        row(
            "a client binds a name that nobody looked up",
            world ->
                outcome(
                    registered(world).bind(InetSocketAddress.createUnresolved("no.such.host", 9)))),
        row(
            "two clients connect from one port to one server",
            world -> {
              Channel server = world.listen();
              Channel first = registered(world);
              first.bind(new InetSocketAddress(world.clientHost(), 0)).syncUninterruptibly();
              first.connect(server.localAddress()).syncUninterruptibly();
              return outcome(
                  world.client(new Sink()).connect(server.localAddress(), first.localAddress()));
            }),
        row(
            "bind a channel that is closed",
            world -> {
              Channel client = registered(world);
              client.close().syncUninterruptibly();
              return outcome(client.bind(new InetSocketAddress(world.clientHost(), 0)));
            }),
        row(
            "write before connect",
            world -> outcome(registered(world).writeAndFlush(Unpooled.wrappedBuffer(new byte[1])))),
        row(
            "write after close",
            world -> {
              Pair pair = world.pair();
              pair.client().close().syncUninterruptibly();
              return outcome(pair.client().writeAndFlush(Unpooled.wrappedBuffer(new byte[1])));
            }),
        row(
            "write after the peer has closed",
            world -> {
              Pair pair = world.pair();
              pair.client().close().syncUninterruptibly();
              pair.server().closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis());
              return outcome(pair.server().writeAndFlush(Unpooled.wrappedBuffer(new byte[1])));
            }),
        row(
            "write after shutdownOutput",
            world -> {
              Pair pair = world.pair();
              pair.client().shutdownOutput().syncUninterruptibly();
              ChannelFuture write =
                  pair.client().writeAndFlush(Unpooled.wrappedBuffer(new byte[1]));
              return outcome(write).endsWith("Exception") ? "fails" : outcome(write);
            }),
        row(
            "the peer resets the connection",
            world -> {
              Pair pair = world.pair();
              pair.client().config().setSoLinger(0);
              pair.client().close().syncUninterruptibly();
              eventually(() -> !pair.server().isOpen());
              Object event = pair.atServer().events.poll();
              return event instanceof Throwable failure ? isIo(failure) : "nothing is told";
            }),
        row(
            "shutdownOutput before connect",
            world -> outcome(((SocketChannel) registered(world)).shutdownOutput())),
        row(
            "a handler throws",
            world -> {
              Channel server = world.listen();
              SocketChannel client = connect(world.client(new Sink()), server);
              world.accepted();
              client.pipeline().fireUserEventTriggered("event");
              client.pipeline().fireExceptionCaught(new IllegalStateException("of a handler"));
              return client.isActive() ? "the channel stays" : "the channel closes";
            }),
        row(
            "read before connect",
            world -> {
              Channel client = registered(world);
              client.read();
              return client.isOpen() ? "the channel stays" : "the channel closes";
            }));
  }

  private static SocketRow row(String name, SocketRow.Probe probe) {
    return new SocketRow(SUBJECT, name, probe);
  }

  private static Channel registered(SocketWorld world) {
    return world.client(new Sink()).register().syncUninterruptibly().channel();
  }

  private static String isIo(Throwable failure) {
    return failure instanceof IOException ? "IOException" : name(failure);
  }
}
