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
 * The options of an {@link AutoSocketChannel}: those of RDMA, of which a socket gets what was set.
 * An option that only sockets of some kind have is kept for them.
 */
final class AutoSocketChannelConfig extends RdmaSocketChannelConfig {
  /** For how long a connect tries RDMA by default, in milliseconds. */
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
    // Not yet there while Netty's constructor sets its defaults.
    if (set != null) {
      set.set(option, value);
    }
  }

  @Override
  int setupMillis() {
    int connect = getConnectTimeoutMillis();
    return connect > 0 ? Math.min(rdmaTimeoutMillis, connect / 2 + 1) : rdmaTimeoutMillis;
  }

  /** Returns for how long another connect may find out: it has as long for RDMA as this one. */
  long patienceNanos() {
    return TimeUnit.MILLISECONDS.toNanos(2L * setupMillis());
  }

  /** Returns for how long it is known what led to a peer. */
  long memoryNanos() {
    return TimeUnit.MILLISECONDS.toNanos(memoryMillis);
  }

  /** Sets of a socket what was set of this channel, now and later. */
  void mirrorTo(SocketChannelConfig socket) {
    set.mirrorTo(socket);
    offerAllocator(socket.getAllocator());
  }
}
