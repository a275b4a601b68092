// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactornetty;

import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.DatagramChannelConfig;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A datagram channel of an RDMA loop, as Netty's DNS client wants it. An NIO loop serves its
 * socket: packets cross between the two threads. Handlers run on the RDMA loop.
 */
final class BridgedDatagramChannel extends AbstractChannel implements DatagramChannel {
  private static final ChannelMetadata METADATA = new ChannelMetadata(true, 16);

  private final SocketLoop socketLoop;
  private final NioDatagramChannel socket = new NioDatagramChannel();

  /** Messages at the head of the outbound buffer that the socket has, on the RDMA loop. */
  private int handedOver;

  /** Whether the NIO loop closes the socket when it ends, on the RDMA loop. */
  private boolean registered;

  private volatile boolean closed;

  BridgedDatagramChannel(SocketLoop socketLoop) {
    super(null);
    this.socketLoop = socketLoop;
    socket.pipeline().addLast(new Packets());
    socket.closeFuture().addListener(done -> onLoop(() -> unsafe().close(voidPromise())));
  }

  /** The socket's, so that {@code autoRead} and the allocators act where packets are read. */
  @Override
  public DatagramChannelConfig config() {
    return socket.config();
  }

  @Override
  public ChannelMetadata metadata() {
    return METADATA;
  }

  @Override
  public boolean isOpen() {
    return !closed;
  }

  @Override
  public boolean isActive() {
    return !closed && socket.isActive();
  }

  @Override
  public boolean isConnected() {
    return socket.isConnected();
  }

  @Override
  public @Nullable InetSocketAddress localAddress() {
    return (InetSocketAddress) super.localAddress();
  }

  @Override
  public @Nullable InetSocketAddress remoteAddress() {
    return (InetSocketAddress) super.remoteAddress();
  }

  @Override
  protected @Nullable SocketAddress localAddress0() {
    return socket.localAddress();
  }

  @Override
  protected @Nullable SocketAddress remoteAddress0() {
    return socket.remoteAddress();
  }

  @Override
  protected boolean isCompatible(EventLoop loop) {
    return true;
  }

  @Override
  protected AbstractUnsafe newUnsafe() {
    return new Unsafe();
  }

  @Override
  protected void doRegister(ChannelPromise promise) {
    if (socket.isRegistered()) {
      promise.setSuccess();
      return;
    }
    ChannelFuture registering = socketLoop.register(socket);
    registered = true;
    complete(promise, registering);
  }

  /** The socket's loop waits for nobody: this takes as long as its {@code bind} does. */
  @Override
  protected void doBind(SocketAddress local) {
    socket.bind(local).syncUninterruptibly();
  }

  @Override
  protected void doDisconnect() {
    ChannelFuture unused = socket.disconnect();
  }

  @Override
  protected void doClose() {
    closed = true;
    if (registered) {
      ChannelFuture unused = socket.close();
    } else {
      socket.unsafe().closeForcibly();
    }
  }

  /** A loop that has ended has closed the socket: nothing comes, and this closes, too. */
  @Override
  protected void doBeginRead() {
    try {
      socket.read();
    } catch (RejectedExecutionException e) {
      unsafe().close(voidPromise());
    }
  }

  /** Hands over what is flushed; a write succeeds when the socket has sent its packet. */
  @Override
  protected void doWrite(ChannelOutboundBuffer queue) throws Exception {
    int before = handedOver;
    int[] index = {0};
    queue.forEachFlushedMessage(
        message -> {
          if (index[0]++ >= before) {
            handedOver++;
            socket
                .write(ReferenceCountUtil.retain(message))
                .addListener(sent -> onLoop(() -> written(sent.cause())));
          }
          return true;
        });
    socket.flush();
  }

  private void written(@Nullable Throwable failure) {
    handedOver--;
    ChannelOutboundBuffer queue = unsafe().outboundBuffer();
    if (queue == null) {
      // Closed, which has failed all writes.
      return;
    }
    if (failure == null) {
      queue.remove();
    } else {
      queue.remove(failure);
    }
  }

  /**
   * Runs a task on the RDMA loop; returns false if the loop has ended, and its channels with it.
   */
  private boolean onLoop(Runnable task) {
    try {
      eventLoop().execute(task);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  private static void complete(ChannelPromise promise, ChannelFuture with) {
    with.addListener(
        done -> {
          if (done.isSuccess()) {
            promise.trySuccess();
          } else {
            promise.tryFailure(done.cause());
          }
        });
  }

  @Override
  public ChannelFuture joinGroup(InetAddress group) {
    return joinGroup(group, newPromise());
  }

  @Override
  public ChannelFuture joinGroup(InetAddress group, ChannelPromise promise) {
    return socket.joinGroup(group, promise);
  }

  @Override
  public ChannelFuture joinGroup(InetSocketAddress group, NetworkInterface on) {
    return joinGroup(group, on, newPromise());
  }

  @Override
  public ChannelFuture joinGroup(
      InetSocketAddress group, NetworkInterface on, ChannelPromise promise) {
    return socket.joinGroup(group, on, promise);
  }

  @Override
  public ChannelFuture joinGroup(
      InetAddress group, NetworkInterface on, @Nullable InetAddress source) {
    return joinGroup(group, on, source, newPromise());
  }

  @Override
  public ChannelFuture joinGroup(
      InetAddress group,
      NetworkInterface on,
      @Nullable InetAddress source,
      ChannelPromise promise) {
    return socket.joinGroup(group, on, source, promise);
  }

  @Override
  public ChannelFuture leaveGroup(InetAddress group) {
    return leaveGroup(group, newPromise());
  }

  @Override
  public ChannelFuture leaveGroup(InetAddress group, ChannelPromise promise) {
    return socket.leaveGroup(group, promise);
  }

  @Override
  public ChannelFuture leaveGroup(InetSocketAddress group, NetworkInterface on) {
    return leaveGroup(group, on, newPromise());
  }

  @Override
  public ChannelFuture leaveGroup(
      InetSocketAddress group, NetworkInterface on, ChannelPromise promise) {
    return socket.leaveGroup(group, on, promise);
  }

  @Override
  public ChannelFuture leaveGroup(
      InetAddress group, NetworkInterface on, @Nullable InetAddress source) {
    return leaveGroup(group, on, source, newPromise());
  }

  @Override
  public ChannelFuture leaveGroup(
      InetAddress group,
      NetworkInterface on,
      @Nullable InetAddress source,
      ChannelPromise promise) {
    return socket.leaveGroup(group, on, source, promise);
  }

  @Override
  public ChannelFuture block(InetAddress group, NetworkInterface on, InetAddress source) {
    return block(group, on, source, newPromise());
  }

  @Override
  public ChannelFuture block(
      InetAddress group, NetworkInterface on, InetAddress source, ChannelPromise promise) {
    return socket.block(group, on, source, promise);
  }

  @Override
  public ChannelFuture block(InetAddress group, InetAddress source) {
    return block(group, source, newPromise());
  }

  @Override
  public ChannelFuture block(InetAddress group, InetAddress source, ChannelPromise promise) {
    return socket.block(group, source, promise);
  }

  private final class Unsafe extends AbstractUnsafe {
    @Override
    public void connect(
        SocketAddress remote, @Nullable SocketAddress local, ChannelPromise promise) {
      if (!promise.setUncancellable() || !ensureOpen(promise)) {
        return;
      }
      boolean wasActive = isActive();
      socket
          .connect(remote, local)
          .addListener(done -> onLoop(() -> connected(promise, done.cause(), wasActive)));
    }

    private void connected(ChannelPromise promise, @Nullable Throwable failure, boolean wasActive) {
      if (failure != null) {
        safeSetFailure(promise, failure);
        return;
      }
      safeSetSuccess(promise);
      if (!wasActive && isActive()) {
        pipeline().fireChannelActive();
      }
    }
  }

  /** Carries what the socket receives to the RDMA loop; on the NIO loop. */
  private final class Packets extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object packet) {
      if (!onLoop(() -> pipeline().fireChannelRead(packet))) {
        ReferenceCountUtil.release(packet);
      }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
      onLoop(() -> pipeline().fireChannelReadComplete());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      onLoop(() -> pipeline().fireExceptionCaught(cause));
    }
  }
}
