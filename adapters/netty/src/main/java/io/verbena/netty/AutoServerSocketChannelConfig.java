// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ServerSocketChannelConfig;
import org.jspecify.annotations.Nullable;

/**
 * The options of an {@link AutoServerSocketChannel}: those of RDMA, of which its socket gets what
 * was set. An option that only sockets of some kind have is kept for them.
 */
final class AutoServerSocketChannelConfig extends RdmaServerSocketChannelConfig {
  private final SetOptions set = new SetOptions();

  AutoServerSocketChannelConfig(AutoServerSocketChannel channel, Runnable stopReading) {
    super(channel, stopReading);
  }

  @Override
  public <T> boolean setOption(ChannelOption<T> option, T value) {
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

  /** Returns the name of an option that a socket cannot keep to; null if none was set. */
  @Nullable String ofRdmaAlone() {
    if (acceptHook() != null) {
      return "ACCEPT_HOOK";
    }
    if (maxConnections() != Integer.MAX_VALUE) {
      return "MAX_CONNECTIONS";
    }
    return maxConnectionsPerPeer() != Integer.MAX_VALUE ? "MAX_CONNECTIONS_PER_PEER" : null;
  }

  /** Sets of a socket what was set of this channel, now and later. */
  void mirrorTo(ServerSocketChannelConfig socket) {
    set.mirrorTo(socket);
  }
}
