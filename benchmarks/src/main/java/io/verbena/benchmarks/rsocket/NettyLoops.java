// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.rsocket;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.verbena.benchmarks.peers.NettyKind;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/** One event loop of a {@link NettyKind}, for one end of Reactor Netty's TCP. */
final class NettyLoops implements LoopResources {
  private final NettyKind kind;
  private final EventLoopGroup loop;

  NettyLoops(NettyKind kind) {
    this.kind = kind;
    loop = new MultiThreadIoEventLoopGroup(1, kind.plainHandler());
  }

  @Override
  public EventLoopGroup onServer(boolean useNative) {
    return loop;
  }

  @Override
  public <CHANNEL extends Channel> CHANNEL onChannel(
      Class<CHANNEL> channelType, EventLoopGroup group) {
    try {
      return onChannelClass(channelType, group).getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("channel: cannot be made of " + kind, e);
    }
  }

  @Override
  public <CHANNEL extends Channel> Class<? extends CHANNEL> onChannelClass(
      Class<CHANNEL> channelType, EventLoopGroup group) {
    Class<? extends Channel> channel =
        channelType == SocketChannel.class ? kind.channel() : kind.serverChannel();
    return channel.asSubclass(channelType);
  }

  @Override
  public Mono<Void> disposeLater(Duration quietPeriod, Duration timeout) {
    return Mono.create(
        sink ->
            loop.shutdownGracefully(
                    quietPeriod.toMillis(), timeout.toMillis(), TimeUnit.MILLISECONDS)
                .addListener(done -> sink.success()));
  }
}
