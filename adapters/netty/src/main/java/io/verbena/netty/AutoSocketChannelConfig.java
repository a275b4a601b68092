// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static io.verbena.netty.RdmaChannelOption.MEDIUM_MEMORY_MILLIS;
import static io.verbena.netty.RdmaChannelOption.RDMA_TIMEOUT_MILLIS;
import static io.verbena.netty.RdmaChannelOption.checked;

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannelConfig;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The options of an {@link AutoSocketChannel}: those of RDMA channels. Options that the program
 * sets are also set on the socket; an option that only some kind of socket has is kept for it.
 */
final class AutoSocketChannelConfig extends RdmaSocketChannelConfig {
  /** How long a connect tries RDMA by default, in milliseconds. */
  static final int RDMA_TIMEOUT = 500;

  private final SetOptions set = new SetOptions();
  private volatile int rdmaTimeoutMillis = RDMA_TIMEOUT;
  private volatile int memoryMillis = 60_000;

  AutoSocketChannelConfig(AutoSocketChannel channel, Runnable stopReading) {
    super(channel, stopReading);
  }

  @Override
  public Map<ChannelOption<?>, Object> getOptions() {
    return getOptions(super.getOptions(), RDMA_TIMEOUT_MILLIS, MEDIUM_MEMORY_MILLIS);
  }

  @Override
  @SuppressWarnings("unchecked")
  public <T> T getOption(ChannelOption<T> option) {
    if (option.equals(RDMA_TIMEOUT_MILLIS)) {
      return (T) (Integer) rdmaTimeoutMillis;
    }
    if (option.equals(MEDIUM_MEMORY_MILLIS)) {
      return (T) (Integer) memoryMillis;
    }
    ChannelConfig socket = set.socket();
    T value = socket == null ? null : socket.getOption(option);
    return value == null ? super.getOption(option) : value;
  }

  @Override
  public <T> boolean setOption(ChannelOption<T> option, T value) {
    if (option.equals(RDMA_TIMEOUT_MILLIS)) {
      rdmaTimeoutMillis = checked("RDMA_TIMEOUT_MILLIS", (Integer) value, 1);
    } else if (option.equals(MEDIUM_MEMORY_MILLIS)) {
      memoryMillis = checked("MEDIUM_MEMORY_MILLIS", (Integer) value, 0);
    } else {
      super.setOption(option, value);
      set.set(option, value);
    }
    return true;
  }

  @Override
  <T> void changed(ChannelOption<T> option, T value) {
    // Null while the constructor of Netty's superclass sets its defaults.
    if (set != null) {
      set.set(option, value);
    }
  }

  @Override
  int setupMillis() {
    int connect = getConnectTimeoutMillis();
    return connect > 0 ? Math.min(rdmaTimeoutMillis, connect / 2 + 1) : rdmaTimeoutMillis;
  }

  /**
   * Returns how long to wait for another connect that tries RDMA to the same peer, in nanoseconds.
   */
  long patienceNanos() {
    return TimeUnit.MILLISECONDS.toNanos(2L * setupMillis());
  }

  /** Returns how long the medium of a peer is remembered, in nanoseconds. */
  long memoryNanos() {
    return TimeUnit.MILLISECONDS.toNanos(memoryMillis);
  }

  /** Sets the options on a socket that the program has set on this channel, now and later. */
  void mirrorTo(SocketChannelConfig socket) {
    set.mirrorTo(socket);
    offerAllocator(socket.getAllocator());
  }
}
