// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ServerSocketChannelConfig;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The options of an {@link AutoServerSocketChannel}: those of RDMA, of which its socket gets what
 * was set. An option that only sockets of some kind have is kept for them.
 */
final class AutoServerSocketChannelConfig extends RdmaServerSocketChannelConfig {
  private static final Map<ChannelOption<?>, String> RDMA_ALONE =
      Map.of(
          RdmaChannelOption.ACCEPT_HOOK, "ACCEPT_HOOK",
          RdmaChannelOption.MAX_CONNECTIONS, "MAX_CONNECTIONS",
          RdmaChannelOption.MAX_CONNECTIONS_PER_PEER, "MAX_CONNECTIONS_PER_PEER");

  private final SetOptions set = new SetOptions();

  AutoServerSocketChannelConfig(AutoServerSocketChannel channel, Runnable stopReading) {
    super(channel, stopReading);
  }

  @Override
  public <T> T getOption(ChannelOption<T> option) {
    ChannelConfig socket = set.socket();
    T value = socket == null ? null : socket.getOption(option);
    return value == null ? super.getOption(option) : value;
  }

  @Override
  public <T> boolean setOption(ChannelOption<T> option, T value) {
    if (channel.isActive()) {
      String name = RDMA_ALONE.get(option);
      if (name != null) {
        throw new IllegalStateException(refusal(name));
      }
    }
    super.setOption(option, value);
    set.set(option, value);
    return true;
  }

  @Override
  <T> void changed(ChannelOption<T> option, T value) {
    // Not yet there while Netty's constructor sets its defaults.
    if (set != null) {
      set.set(option, value);
    }
  }

  /**
   * Returns why this cannot be bound, as a socket does not keep to what was set; null if it can.
   */
  @Nullable String refusal() {
    if (acceptHook() != null) {
      return refusal("ACCEPT_HOOK");
    }
    if (maxConnections() != Integer.MAX_VALUE) {
      return refusal("MAX_CONNECTIONS");
    }
    return maxConnectionsPerPeer() != Integer.MAX_VALUE
        ? refusal("MAX_CONNECTIONS_PER_PEER")
        : null;
  }

  private static String refusal(String option) {
    return option + ": set (expected: not with TCP, which does not know it)";
  }

  /** Sets of a socket what was set of this channel, now and later. */
  void mirrorTo(ServerSocketChannelConfig socket) {
    set.mirrorTo(socket);
  }
}
