// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static io.verbena.netty.SocketWorld.connect;

import io.netty.channel.Channel;
import io.netty.channel.socket.SocketChannel;
import io.verbena.netty.SocketWorld.Pair;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The rows about the addresses of both ends. */
final class IdentityRows {
  private static final String SUBJECT = "identity";

  private IdentityRows() {}

  static List<SocketRow> all() {
    return List.of(
        row(
            "a channel that is neither bound nor connected, its addresses",
            world -> {
              Channel client = registered(world);
              return text(client.localAddress()) + ", " + text(client.remoteAddress());
            }),
        row(
            "a client binds to port 0, its port then",
            world -> {
              Channel client = registered(world);
              client.bind(new InetSocketAddress(world.clientHost(), 0)).syncUninterruptibly();
              return port(client.localAddress()) == 0 ? "none" : "one";
            }),
        row(
            "a client binds to the wildcard, its host then",
            world -> {
              Channel client = registered(world);
              client.bind(new InetSocketAddress(0)).syncUninterruptibly();
              return host(client.localAddress());
            }),
        row(
            "a client that is bound to the wildcard connects, its host then",
            world -> {
              Channel server = world.listen();
              Channel client = registered(world);
              client.bind(new InetSocketAddress(0)).syncUninterruptibly();
              InetSocketAddress bound = (InetSocketAddress) client.localAddress();
              client.connect(server.localAddress()).syncUninterruptibly();
              return host(client.localAddress())
                  + ", "
                  + same(bound.getPort(), port(client.localAddress()))
                  + " port";
            }),
        row(
            "a client that has bound a port connects, its port at the server",
            world -> {
              Channel server = world.listen();
              Channel client = registered(world);
              client.bind(new InetSocketAddress(world.clientHost(), 0)).syncUninterruptibly();
              int bound = port(client.localAddress());
              client.connect(server.localAddress()).syncUninterruptibly();
              return same(bound, port(world.accepted().remoteAddress()));
            }),
        row(
            "a server binds to port 0, its port then",
            world -> port(world.listen().localAddress()) == 0 ? "none" : "one"),
        row(
            "a server binds to the wildcard, its host then",
            world ->
                host(
                    world
                        .server(new Sink())
                        .bind(new InetSocketAddress(0))
                        .syncUninterruptibly()
                        .channel()
                        .localAddress())),
        row("a server's remote address", world -> text(world.listen().remoteAddress())),
        row(
            "the server's remote and the client's local address",
            world -> {
              Pair pair = world.pair();
              return same(pair.server().remoteAddress(), pair.client().localAddress());
            }),
        row(
            "the server's local and the client's remote address",
            world -> {
              Pair pair = world.pair();
              return same(pair.server().localAddress(), pair.client().remoteAddress());
            }),
        row(
            "the client's remote address and the one that it was told",
            world -> {
              Pair pair = world.pair();
              return same(pair.client().remoteAddress(), pair.listener().localAddress());
            }),
        row(
            "the client's host at the server",
            world -> same(world.pair().server().remoteAddress().getAddress(), world.clientHost())),
        row(
            "addresses of two connections",
            world -> {
              Channel server = world.listen();
              SocketChannel one = connect(world.client(new Sink()), server);
              SocketChannel other = connect(world.client(new Sink()), server);
              return same(one.localAddress(), other.localAddress())
                  + ", "
                  + same(world.accepted().remoteAddress(), world.accepted().remoteAddress());
            }),
        row(
            "addresses after the close",
            world -> {
              Pair pair = world.pair();
              SocketAddress local = pair.client().localAddress();
              SocketAddress remote = pair.client().remoteAddress();
              pair.client().close().syncUninterruptibly();
              return same(pair.client().localAddress(), local)
                  + ", "
                  + same(pair.client().remoteAddress(), remote);
            }),
        row(
            "a server's address after the close",
            world -> {
              Channel server = world.listen();
              SocketAddress local = server.localAddress();
              server.close().syncUninterruptibly();
              return same(server.localAddress(), local);
            }),
        row(
            "parent of an accepted channel",
            world -> {
              Pair pair = world.pair();
              return pair.server().parent() == pair.listener() ? "the server" : "another";
            }));
  }

  private static SocketRow row(String name, SocketRow.Probe probe) {
    return new SocketRow(SUBJECT, name, probe);
  }

  private static Channel registered(SocketWorld world) {
    return world.client(new Sink()).register().syncUninterruptibly().channel();
  }

  private static int port(SocketAddress address) {
    return ((InetSocketAddress) address).getPort();
  }

  private static String host(SocketAddress address) {
    return ((InetSocketAddress) address).getAddress().isAnyLocalAddress()
        ? "wildcard"
        : "an address";
  }

  private static String text(@Nullable Object value) {
    return value == null ? "none" : "some";
  }

  private static String same(@Nullable Object one, @Nullable Object other) {
    return one != null && one.equals(other) ? "the same" : "another";
  }
}
