// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.Channel.Unsafe;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.RecvByteBufAllocator;
import java.net.SocketAddress;
import java.nio.channels.NotYetConnectedException;
import org.jspecify.annotations.Nullable;

/**
 * The operations that the pipeline of an {@link AutoSocketChannel} calls. They go to the channel
 * below, once there is one.
 */
final class AutoOperations implements Unsafe {
  private final Unsafe own;
  private final EarlyWrites early;
  private volatile Unsafe to;

  /**
   * @param own the operations of the channel in front, which begin and end its life cycle
   * @param early keeps the writes until there is a channel below
   */
  AutoOperations(Unsafe own, EarlyWrites early) {
    this.own = own;
    this.early = early;
    to = own;
  }

  /** Delegates to the channel below from now on. */
  void handTo(Unsafe made) {
    to = made;
  }

  @Override
  public void write(Object message, ChannelPromise promise) {
    if (to == own && own.outboundBuffer() != null) {
      early.keep(message, promise);
    } else {
      to.write(message, promise);
    }
  }

  @Override
  public void flush() {
    if (to == own) {
      early.fail(NotYetConnectedException::new);
    } else {
      to.flush();
    }
  }

  @Override
  public void beginRead() {
    to.beginRead();
  }

  @Override
  public @Nullable ChannelOutboundBuffer outboundBuffer() {
    return to.outboundBuffer();
  }

  @Override
  @SuppressWarnings("deprecation") // as the interface has it
  public RecvByteBufAllocator.Handle recvBufAllocHandle() {
    return to.recvBufAllocHandle();
  }

  @Override
  public void close(ChannelPromise promise) {
    to.close(promise);
  }

  @Override
  public void disconnect(ChannelPromise promise) {
    to.close(promise);
  }

  @Override
  public void closeForcibly() {
    own.closeForcibly();
  }

  @Override
  public @Nullable SocketAddress localAddress() {
    return own.localAddress();
  }

  @Override
  public @Nullable SocketAddress remoteAddress() {
    return own.remoteAddress();
  }

  @Override
  public void register(EventLoop loop, ChannelPromise promise) {
    own.register(loop, promise);
  }

  @Override
  public void bind(SocketAddress address, ChannelPromise promise) {
    own.bind(address, promise);
  }

  @Override
  public void connect(SocketAddress remote, SocketAddress local, ChannelPromise promise) {
    own.connect(remote, local, promise);
  }

  @Override
  public void deregister(ChannelPromise promise) {
    own.deregister(promise);
  }

  @Override
  public ChannelPromise voidPromise() {
    return own.voidPromise();
  }
}
