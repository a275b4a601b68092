// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ServerSocketChannelConfig;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The options of an {@link AutoServerSocketChannel}: those of RDMA channels. Options that the
 * program sets are also set on the socket; an option that only some kind of socket has is kept for
 * it.
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
    // Null while the constructor of Netty's superclass sets its defaults.
    if (set != null) {
      set.set(option, value);
    }
  }

  /**
   * Returns why the channel cannot be bound: an option is set that TCP cannot enforce; null if none
   * is.
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

  /** Sets the options on a socket that the program has set on this channel, now and later. */
  void mirrorTo(ServerSocketChannelConfig socket) {
    set.mirrorTo(socket);
  }
}
