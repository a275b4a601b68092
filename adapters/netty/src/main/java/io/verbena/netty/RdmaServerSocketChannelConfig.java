// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static io.netty.channel.ChannelOption.ALLOCATOR;
import static io.netty.channel.ChannelOption.AUTO_READ;
import static io.netty.channel.ChannelOption.CONNECT_TIMEOUT_MILLIS;
import static io.netty.channel.ChannelOption.MAX_MESSAGES_PER_READ;
import static io.netty.channel.ChannelOption.RECVBUF_ALLOCATOR;
import static io.netty.channel.ChannelOption.SO_BACKLOG;
import static io.netty.channel.ChannelOption.SO_RCVBUF;
import static io.netty.channel.ChannelOption.SO_REUSEADDR;
import static io.verbena.netty.RdmaChannelOption.ACCEPT_HOOK;
import static io.verbena.netty.RdmaChannelOption.COPY_READS;
import static io.verbena.netty.RdmaChannelOption.MAX_CONNECTIONS;
import static io.verbena.netty.RdmaChannelOption.MAX_CONNECTIONS_PER_PEER;
import static io.verbena.netty.RdmaChannelOption.checked;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.netty.util.NetUtil;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The options of a server channel. Of the options of a socket only the backlog has an effect. */
class RdmaServerSocketChannelConfig extends DefaultChannelConfig
    implements ServerSocketChannelConfig {
  private static final int BUFFER = 64 << 10;

  /** The default, which 0 stands for, as with a socket. */
  private static final int DEFAULT_BACKLOG = NetUtil.SOMAXCONN;

  private volatile int backlog = DEFAULT_BACKLOG;
  private volatile int maxConnections = Integer.MAX_VALUE;
  private volatile int maxConnectionsPerPeer = Integer.MAX_VALUE;
  private volatile @Nullable RdmaAcceptHook acceptHook;
  private volatile boolean copyReads;
  private volatile boolean reuseAddress;
  private volatile int receiveBufferSize = BUFFER;

  private final Runnable stopReading;

  /**
   * @param stopReading cancels the channel's pending read; called on its event loop
   */
  RdmaServerSocketChannelConfig(ServerSocketChannel channel, Runnable stopReading) {
    super(channel);
    this.stopReading = stopReading;
  }

  /** Called after an option was set, on any thread. */
  <T> void changed(ChannelOption<T> option, T value) {}

  @Override
  public Map<ChannelOption<?>, Object> getOptions() {
    return getOptions(
        super.getOptions(),
        SO_RCVBUF,
        SO_REUSEADDR,
        SO_BACKLOG,
        MAX_CONNECTIONS,
        MAX_CONNECTIONS_PER_PEER,
        ACCEPT_HOOK,
        COPY_READS);
  }

  @Override
  @SuppressWarnings("unchecked")
  public <T> T getOption(ChannelOption<T> option) {
    Object value = null;
    if (option.equals(SO_RCVBUF)) {
      value = receiveBufferSize;
    } else if (option.equals(SO_REUSEADDR)) {
      value = reuseAddress;
    } else if (option.equals(SO_BACKLOG)) {
      value = backlog;
    } else if (option.equals(MAX_CONNECTIONS)) {
      value = maxConnections;
    } else if (option.equals(MAX_CONNECTIONS_PER_PEER)) {
      value = maxConnectionsPerPeer;
    } else if (option.equals(ACCEPT_HOOK)) {
      value = acceptHook;
    } else if (option.equals(COPY_READS)) {
      value = copyReads;
    }
    return value == null ? super.getOption(option) : (T) value;
  }

  @Override
  public <T> boolean setOption(ChannelOption<T> option, T value) {
    validate(option, value);
    if (option.equals(SO_RCVBUF)) {
      setReceiveBufferSize((Integer) value);
    } else if (option.equals(SO_REUSEADDR)) {
      setReuseAddress((Boolean) value);
    } else if (option.equals(SO_BACKLOG)) {
      setBacklog((Integer) value);
    } else if (option.equals(MAX_CONNECTIONS)) {
      maxConnections = checked("MAX_CONNECTIONS", (Integer) value, 1);
    } else if (option.equals(MAX_CONNECTIONS_PER_PEER)) {
      maxConnectionsPerPeer = checked("MAX_CONNECTIONS_PER_PEER", (Integer) value, 1);
    } else if (option.equals(ACCEPT_HOOK)) {
      acceptHook = (RdmaAcceptHook) value;
    } else if (option.equals(COPY_READS)) {
      copyReads = (Boolean) value;
    } else {
      return super.setOption(option, value);
    }
    return true;
  }

  int maxConnections() {
    return maxConnections;
  }

  int maxConnectionsPerPeer() {
    return maxConnectionsPerPeer;
  }

  @Nullable RdmaAcceptHook acceptHook() {
    return acceptHook;
  }

  @Override
  public int getBacklog() {
    return backlog;
  }

  @Override
  public ServerSocketChannelConfig setBacklog(int value) {
    if (value < 0) {
      throw new IllegalArgumentException("backlog: " + value + " (expected: >= 0)");
    }
    backlog = value == 0 ? DEFAULT_BACKLOG : value;
    changed(SO_BACKLOG, value);
    return this;
  }

  @Override
  public boolean isReuseAddress() {
    return reuseAddress;
  }

  @Override
  public ServerSocketChannelConfig setReuseAddress(boolean value) {
    reuseAddress = value;
    changed(SO_REUSEADDR, value);
    return this;
  }

  @Override
  public int getReceiveBufferSize() {
    return receiveBufferSize;
  }

  @Override
  public ServerSocketChannelConfig setReceiveBufferSize(int bytes) {
    receiveBufferSize = bytes;
    changed(SO_RCVBUF, bytes);
    return this;
  }

  @Override
  public ServerSocketChannelConfig setPerformancePreferences(
      int connect, int latency, int bandwidth) {
    return this;
  }

  @Override
  public ServerSocketChannelConfig setConnectTimeoutMillis(int millis) {
    super.setConnectTimeoutMillis(millis);
    changed(CONNECT_TIMEOUT_MILLIS, millis);
    return this;
  }

  @Override
  @Deprecated
  public ServerSocketChannelConfig setMaxMessagesPerRead(int messages) {
    super.setMaxMessagesPerRead(messages);
    changed(MAX_MESSAGES_PER_READ, messages);
    return this;
  }

  @Override
  public ServerSocketChannelConfig setWriteSpinCount(int count) {
    super.setWriteSpinCount(count);
    return this;
  }

  @Override
  public ServerSocketChannelConfig setAllocator(ByteBufAllocator allocator) {
    super.setAllocator(allocator);
    changed(ALLOCATOR, allocator);
    return this;
  }

  @Override
  public ServerSocketChannelConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
    super.setRecvByteBufAllocator(allocator);
    changed(RECVBUF_ALLOCATOR, allocator);
    return this;
  }

  @Override
  public ServerSocketChannelConfig setAutoRead(boolean value) {
    super.setAutoRead(value);
    changed(AUTO_READ, value);
    return this;
  }

  @Override
  protected void autoReadCleared() {
    PendingRead.takeBack(channel, stopReading);
  }

  @Override
  public ServerSocketChannelConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
    super.setMessageSizeEstimator(estimator);
    return this;
  }

  @Override
  public ServerSocketChannelConfig setWriteBufferWaterMark(WriteBufferWaterMark mark) {
    super.setWriteBufferWaterMark(mark);
    return this;
  }

  @Override
  public ServerSocketChannelConfig setWriteBufferHighWaterMark(int bytes) {
    super.setWriteBufferHighWaterMark(bytes);
    return this;
  }

  @Override
  public ServerSocketChannelConfig setWriteBufferLowWaterMark(int bytes) {
    super.setWriteBufferLowWaterMark(bytes);
    return this;
  }
}
