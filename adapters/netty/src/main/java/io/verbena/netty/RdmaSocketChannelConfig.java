// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static io.netty.channel.ChannelOption.ALLOCATOR;
import static io.netty.channel.ChannelOption.ALLOW_HALF_CLOSURE;
import static io.netty.channel.ChannelOption.AUTO_CLOSE;
import static io.netty.channel.ChannelOption.AUTO_READ;
import static io.netty.channel.ChannelOption.CONNECT_TIMEOUT_MILLIS;
import static io.netty.channel.ChannelOption.IP_TOS;
import static io.netty.channel.ChannelOption.MAX_MESSAGES_PER_READ;
import static io.netty.channel.ChannelOption.MAX_MESSAGES_PER_WRITE;
import static io.netty.channel.ChannelOption.MESSAGE_SIZE_ESTIMATOR;
import static io.netty.channel.ChannelOption.RECVBUF_ALLOCATOR;
import static io.netty.channel.ChannelOption.SO_KEEPALIVE;
import static io.netty.channel.ChannelOption.SO_LINGER;
import static io.netty.channel.ChannelOption.SO_RCVBUF;
import static io.netty.channel.ChannelOption.SO_REUSEADDR;
import static io.netty.channel.ChannelOption.SO_SNDBUF;
import static io.netty.channel.ChannelOption.TCP_NODELAY;
import static io.netty.channel.ChannelOption.WRITE_BUFFER_WATER_MARK;
import static io.netty.channel.ChannelOption.WRITE_SPIN_COUNT;
import static io.verbena.netty.RdmaChannelOption.COPY_READS;
import static io.verbena.netty.RdmaChannelOption.PRIVATE_DATA;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import java.nio.ByteBuffer;
import java.util.Map;

/**
 * The options of a channel. Options of a TCP socket are accepted and kept, but have no effect: an
 * RC connection does not delay small messages, and its buffers are receives. {@code SO_KEEPALIVE}
 * is on by default; {@link io.verbena.RdmaOptions#keepAlive} is the time that a peer may be silent.
 * With {@code SO_LINGER} 0 a close resets the connection, as with a socket: the peer reads no end
 * of the stream.
 *
 * <p>Once the channel is registered, its default allocator is that of the HCA's registered memory.
 */
class RdmaSocketChannelConfig extends DefaultChannelConfig implements SocketChannelConfig {
  private static final int BUFFER = 64 << 10;

  private volatile boolean allocatorWasSet;
  private volatile boolean allowHalfClosure;
  private volatile boolean keepAlive = true;
  private volatile boolean reuseAddress;
  private volatile boolean tcpNoDelay = true;
  private volatile int receiveBufferSize = BUFFER;
  private volatile int sendBufferSize = BUFFER;
  private volatile int soLinger = -1;
  private volatile int trafficClass;
  private volatile byte[] privateData = {};
  private volatile boolean copyReads;

  private final Runnable stopReading;

  /**
   * @param stopReading cancels the channel's pending read; called on its event loop
   */
  RdmaSocketChannelConfig(SocketChannel channel, Runnable stopReading) {
    super(channel);
    this.stopReading = stopReading;
  }

  /** Called after an option was set, on any thread. */
  <T> void changed(ChannelOption<T> option, T value) {}

  /** Returns how long the setup of a connection may take, in milliseconds; 0 for no limit. */
  int setupMillis() {
    return getConnectTimeoutMillis();
  }

  @Override
  public Map<ChannelOption<?>, Object> getOptions() {
    return getOptions(
        super.getOptions(),
        SO_RCVBUF,
        SO_SNDBUF,
        TCP_NODELAY,
        SO_KEEPALIVE,
        SO_REUSEADDR,
        SO_LINGER,
        IP_TOS,
        ALLOW_HALF_CLOSURE,
        PRIVATE_DATA,
        COPY_READS);
  }

  @Override
  @SuppressWarnings("unchecked")
  public <T> T getOption(ChannelOption<T> option) {
    Object value = null;
    if (option.equals(SO_RCVBUF)) {
      value = receiveBufferSize;
    } else if (option.equals(SO_SNDBUF)) {
      value = sendBufferSize;
    } else if (option.equals(TCP_NODELAY)) {
      value = tcpNoDelay;
    } else if (option.equals(SO_KEEPALIVE)) {
      value = keepAlive;
    } else if (option.equals(SO_REUSEADDR)) {
      value = reuseAddress;
    } else if (option.equals(SO_LINGER)) {
      value = soLinger;
    } else if (option.equals(IP_TOS)) {
      value = trafficClass;
    } else if (option.equals(ALLOW_HALF_CLOSURE)) {
      value = allowHalfClosure;
    } else if (option.equals(PRIVATE_DATA)) {
      value = privateData.clone();
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
    } else if (option.equals(SO_SNDBUF)) {
      setSendBufferSize((Integer) value);
    } else if (option.equals(TCP_NODELAY)) {
      setTcpNoDelay((Boolean) value);
    } else if (option.equals(SO_KEEPALIVE)) {
      setKeepAlive((Boolean) value);
    } else if (option.equals(SO_REUSEADDR)) {
      setReuseAddress((Boolean) value);
    } else if (option.equals(SO_LINGER)) {
      setSoLinger((Integer) value);
    } else if (option.equals(IP_TOS)) {
      setTrafficClass((Integer) value);
    } else if (option.equals(ALLOW_HALF_CLOSURE)) {
      setAllowHalfClosure((Boolean) value);
    } else if (option.equals(PRIVATE_DATA)) {
      privateData = ((byte[]) value).clone();
    } else if (option.equals(COPY_READS)) {
      copyReads = (Boolean) value;
    } else {
      return super.setOption(option, value);
    }
    return true;
  }

  /** Returns the program's private data for a connect request. */
  ByteBuffer privateData() {
    return ByteBuffer.wrap(privateData);
  }

  boolean copiesReads() {
    return copyReads;
  }

  /** Sets the default allocator; has no effect if the program has set an allocator. */
  void offerAllocator(ByteBufAllocator registered) {
    if (!allocatorWasSet) {
      super.setAllocator(registered);
    }
  }

  @Override
  public SocketChannelConfig setAllocator(ByteBufAllocator allocator) {
    allocatorWasSet = true;
    super.setAllocator(allocator);
    changed(ALLOCATOR, allocator);
    return this;
  }

  @Override
  public boolean isTcpNoDelay() {
    return tcpNoDelay;
  }

  @Override
  public SocketChannelConfig setTcpNoDelay(boolean value) {
    tcpNoDelay = value;
    changed(TCP_NODELAY, value);
    return this;
  }

  @Override
  public int getSoLinger() {
    return soLinger;
  }

  @Override
  public SocketChannelConfig setSoLinger(int seconds) {
    soLinger = seconds;
    changed(SO_LINGER, seconds);
    return this;
  }

  @Override
  public int getSendBufferSize() {
    return sendBufferSize;
  }

  @Override
  public SocketChannelConfig setSendBufferSize(int bytes) {
    sendBufferSize = bytes;
    changed(SO_SNDBUF, bytes);
    return this;
  }

  @Override
  public int getReceiveBufferSize() {
    return receiveBufferSize;
  }

  @Override
  public SocketChannelConfig setReceiveBufferSize(int bytes) {
    receiveBufferSize = bytes;
    changed(SO_RCVBUF, bytes);
    return this;
  }

  @Override
  public boolean isKeepAlive() {
    return keepAlive;
  }

  @Override
  public SocketChannelConfig setKeepAlive(boolean value) {
    keepAlive = value;
    changed(SO_KEEPALIVE, value);
    return this;
  }

  @Override
  public int getTrafficClass() {
    return trafficClass;
  }

  @Override
  public SocketChannelConfig setTrafficClass(int value) {
    trafficClass = value;
    changed(IP_TOS, value);
    return this;
  }

  @Override
  public boolean isReuseAddress() {
    return reuseAddress;
  }

  @Override
  public SocketChannelConfig setReuseAddress(boolean value) {
    reuseAddress = value;
    changed(SO_REUSEADDR, value);
    return this;
  }

  @Override
  public SocketChannelConfig setPerformancePreferences(int connect, int latency, int bandwidth) {
    return this;
  }

  @Override
  public boolean isAllowHalfClosure() {
    return allowHalfClosure;
  }

  @Override
  public SocketChannelConfig setAllowHalfClosure(boolean value) {
    allowHalfClosure = value;
    changed(ALLOW_HALF_CLOSURE, value);
    return this;
  }

  @Override
  public SocketChannelConfig setConnectTimeoutMillis(int millis) {
    super.setConnectTimeoutMillis(millis);
    changed(CONNECT_TIMEOUT_MILLIS, millis);
    return this;
  }

  @Override
  @Deprecated
  public SocketChannelConfig setMaxMessagesPerRead(int messages) {
    super.setMaxMessagesPerRead(messages);
    changed(MAX_MESSAGES_PER_READ, messages);
    return this;
  }

  @Override
  public SocketChannelConfig setWriteSpinCount(int count) {
    super.setWriteSpinCount(count);
    changed(WRITE_SPIN_COUNT, count);
    return this;
  }

  @Override
  public SocketChannelConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
    super.setRecvByteBufAllocator(allocator);
    changed(RECVBUF_ALLOCATOR, allocator);
    return this;
  }

  @Override
  public SocketChannelConfig setAutoRead(boolean value) {
    super.setAutoRead(value);
    changed(AUTO_READ, value);
    return this;
  }

  @Override
  protected void autoReadCleared() {
    PendingRead.takeBack(channel, stopReading);
  }

  @Override
  public SocketChannelConfig setAutoClose(boolean value) {
    super.setAutoClose(value);
    changed(AUTO_CLOSE, value);
    return this;
  }

  @Override
  public SocketChannelConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
    super.setMessageSizeEstimator(estimator);
    changed(MESSAGE_SIZE_ESTIMATOR, estimator);
    return this;
  }

  @Override
  public SocketChannelConfig setWriteBufferWaterMark(WriteBufferWaterMark mark) {
    super.setWriteBufferWaterMark(mark);
    changed(WRITE_BUFFER_WATER_MARK, mark);
    return this;
  }

  @Override
  public SocketChannelConfig setWriteBufferHighWaterMark(int bytes) {
    super.setWriteBufferHighWaterMark(bytes);
    changed(WRITE_BUFFER_WATER_MARK, getWriteBufferWaterMark());
    return this;
  }

  @Override
  public SocketChannelConfig setWriteBufferLowWaterMark(int bytes) {
    super.setWriteBufferLowWaterMark(bytes);
    changed(WRITE_BUFFER_WATER_MARK, getWriteBufferWaterMark());
    return this;
  }

  @Override
  public SocketChannelConfig setMaxMessagesPerWrite(int messages) {
    super.setMaxMessagesPerWrite(messages);
    changed(MAX_MESSAGES_PER_WRITE, messages);
    return this;
  }
}
