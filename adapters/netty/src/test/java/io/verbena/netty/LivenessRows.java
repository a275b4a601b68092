// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static io.verbena.netty.SocketWorld.isDone;
import static io.verbena.netty.SocketWorld.isDoneSoon;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import io.verbena.netty.SocketWorld.Pair;
import java.net.URI;
import java.util.List;

/** The rows about vanished peers. */
final class LivenessRows {
  private static final String SUBJECT = "liveness";

  private LivenessRows() {}

  static List<SocketRow> all() {
    return List.of(
        new SocketRow(
            SUBJECT, "the peer is killed, with SO_KEEPALIVE", world -> killed(world, true)),
        new SocketRow(
            SUBJECT, "the peer is killed, without SO_KEEPALIVE", world -> killed(world, false)),
        new SocketRow(
            SUBJECT,
            "both ends are idle",
            world -> {
              Pair pair = world.pair();
              return isDoneSoon(pair.client().closeFuture()) || !pair.server().isActive()
                  ? "the channel closes"
                  : "the channel stays";
            }),
        new SocketRow(
            SUBJECT,
            "SO_KEEPALIVE if nobody sets it",
            world -> world.pair().client().config().isKeepAlive() ? "on" : "off"));
  }

  /** The system ends the TCP connections of a killed process; nothing ends those of its HCA. */
  private static String killed(SocketWorld world, boolean keepAlive) throws InterruptedException {
    Channel server =
        world.listen(world.server(new Sink()).childOption(ChannelOption.SO_KEEPALIVE, keepAlive));
    URI hca = world.clientHca();
    if (hca == null) {
      SocketChannel client = SocketWorld.connect(world.client(new Sink()), server);
      SocketChannel accepted = world.accepted();
      client.config().setSoLinger(0);
      client.close().syncUninterruptibly();
      return after(accepted, true);
    }
    try (RawClient client = RawClient.to(server, hca)) {
      SocketChannel accepted = world.accepted();
      client.vanish();
      String answer = after(accepted, keepAlive);
      accepted.close().syncUninterruptibly();
      return answer;
    }
  }

  private static String after(SocketChannel accepted, boolean closes) {
    return isDone(accepted.closeFuture(), closes) ? "the channel closes" : "the channel stays";
  }
}
