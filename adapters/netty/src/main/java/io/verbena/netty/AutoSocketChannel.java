// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;

import io.netty.channel.AbstractChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPipeline;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.util.AttributeKey;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * A client channel that connects over RDMA if the peer has it, and else over TCP; for clusters in
 * which hosts get RDMA one by one. It is registered with an event loop of {@link AutoIoHandler},
 * which works without an HCA too. The peer listens with {@link AutoServerSocketChannel}, over RDMA
 * only, or over TCP only.
 *
 * <p>The connect chooses the medium: it tries RDMA for {@link
 * RdmaChannelOption#RDMA_TIMEOUT_MILLIS}, and then TCP. All channels of an HCA remember the medium
 * that led to a peer for {@link RdmaChannelOption#MEDIUM_MEMORY_MILLIS}; after that, one of them
 * tries RDMA again, while the others keep to the remembered medium. If the server rejects the
 * client because of a limit or its accept hook, the connect fails without trying TCP. A connection
 * never changes its medium: when it is lost, its channel closes. The attribute {@link #MEDIUM}
 * names the medium; the log names it for the first connect to a peer, and when it changes.
 *
 * <p>A channel of this class has the pipeline and the options. It delegates each operation to a
 * {@link RdmaSocketChannel} or a socket channel, which it creates as it connects. That costs one
 * call for an operation, and nothing for received bytes over RDMA: no copy, no other thread. (The
 * medium cannot be chosen before the channel is created: gRPC and Reactor Netty create channels by
 * a factory, and a channel does not see the result of an {@code AddressResolver}.)
 *
 * <p>Options and handlers are those of sockets; a TLS handler works over both media. A channel
 * stays on one loop: deregistering closes it.
 *
 * <p>TCP has no keys of a locked wire. On an HCA with {@code key-file} a connect therefore fails
 * with {@link ConnectException}.
 */
public final class AutoSocketChannel extends AbstractChannel implements SocketChannel {
  /**
   * The attribute that names the medium of a connection: {@link #TCP}, or the scheme of the HCA.
   */
  public static final AttributeKey<String> MEDIUM =
      AttributeKey.valueOf(AutoSocketChannel.class, "MEDIUM");

  /** The value of {@link #MEDIUM} for a connection over TCP. */
  public static final String TCP = "tcp";

  private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);

  private final AutoSocketChannelConfig config =
      new AutoSocketChannelConfig(this, this::stopReading);

  /** Creates the socket channel; null for the kind that the loop has. */
  private final @Nullable ChannelFactory<? extends SocketChannel> sockets;

  private @Nullable IoRegistration registration;
  private @Nullable RdmaIoHandler handler;
  private @Nullable AutoConnect connecting;
  private volatile @Nullable SocketChannel chosen;
  private volatile @Nullable InetSocketAddress bound;
  private volatile boolean closed;
  private boolean readWanted;
  private boolean endWasTold;

  /**
   * Creates a channel. Over TCP it uses the {@link SocketKind} of its loop, if that is one of
   * {@link RdmaSockets}; else NIO.
   */
  public AutoSocketChannel() {
    super(null);
    sockets = null;
  }

  /**
   * Creates a channel with a factory for its socket.
   *
   * @param sockets creates the socket channel, of a kind that the channel's loop drives: epoll, for
   *     example
   */
  public AutoSocketChannel(ChannelFactory<? extends SocketChannel> sockets) {
    super(null);
    this.sockets = requireNonNull(sockets, "sockets");
  }

  @Override
  public @Nullable ServerSocketChannel parent() {
    return null;
  }

  @Override
  public SocketChannelConfig config() {
    return config;
  }

  AutoSocketChannelConfig options() {
    return config;
  }

  @Override
  public ChannelMetadata metadata() {
    return METADATA;
  }

  @Override
  public boolean isOpen() {
    Channel to = chosen;
    return to == null ? !closed : to.isOpen();
  }

  @Override
  public boolean isActive() {
    Channel to = chosen;
    return to != null && to.isActive();
  }

  @Override
  public @Nullable InetSocketAddress localAddress() {
    // AbstractChannel keeps the first address that it gets, and a bound one may have port 0.
    return chosen == null ? bound : (InetSocketAddress) super.localAddress();
  }

  @Override
  public @Nullable InetSocketAddress remoteAddress() {
    return (InetSocketAddress) super.remoteAddress();
  }

  @Override
  protected @Nullable SocketAddress localAddress0() {
    SocketChannel to = chosen;
    return to == null ? bound : to.localAddress();
  }

  @Override
  protected @Nullable SocketAddress remoteAddress0() {
    SocketChannel to = chosen;
    return to == null ? null : to.remoteAddress();
  }

  @Override
  protected boolean isCompatible(EventLoop loop) {
    return loop instanceof IoEventLoop;
  }

  @Override
  protected AbstractUnsafe newUnsafe() {
    return new LifeCycle();
  }

  @Override
  protected DefaultChannelPipeline newChannelPipeline() {
    return new Pipeline(this);
  }

  @Override
  public Unsafe unsafe() {
    return ((LifeCycle) super.unsafe()).operations;
  }

  /** Returns the RDMA or socket channel that this one delegates to; null until it is connected. */
  @Nullable SocketChannel carrier() {
    return chosen;
  }

  SocketChannel newSocket() {
    ChannelFactory<? extends SocketChannel> own = sockets;
    SocketChannel made =
        (own == null ? RdmaSockets.socketsFor(eventLoop()).clients() : own).newChannel();
    config.mirrorTo(made.config());
    return made;
  }

  @Override
  protected void doRegister(ChannelPromise promise) {
    if (!RdmaIoHandler.isCompatibleLoop(eventLoop())) {
      promise.setSuccess();
      return;
    }
    ((IoEventLoop) eventLoop())
        .register((LifeCycle) super.unsafe())
        .addListener(
            done -> {
              // A failed HCA that cannot be opened again counts as no HCA.
              if (done.isSuccess()) {
                IoRegistration made = (IoRegistration) done.getNow();
                registration = made;
                handler = made.attachment();
              }
              promise.setSuccess();
            });
  }

  @Override
  protected void doBind(SocketAddress address) {
    if (!(address instanceof InetSocketAddress socket)) {
      throw new UnsupportedAddressTypeException();
    }
    if (socket.isUnresolved()) {
      throw new UnresolvedAddressException();
    }
    if (bound != null || connecting != null || chosen != null) {
      throw new AlreadyBoundException();
    }
    // The RDMA or socket channel binds it as it connects.
    bound = socket;
  }

  /** Delegates to a channel that has connected, and becomes active. */
  void connected(SocketChannel made, String medium, ChannelPromise promise) {
    connecting = null;
    ((LifeCycle) super.unsafe()).handTo(made);
    chosen = made;
    attr(MEDIUM).set(medium);
    ChannelPipeline pipeline = pipeline();
    if (made instanceof RdmaSocketChannel rdma) {
      rdma.usePipeline(pipeline);
    }
    made.closeFuture().addListener(end -> super.unsafe().close(voidPromise()));
    if (readWanted) {
      made.unsafe().beginRead();
    }
    // A listener may close the channel, which was active all the same.
    boolean connected = promise.trySuccess();
    pipeline.fireChannelActive();
    if (!connected) {
      unsafe().close(voidPromise());
    }
  }

  /** Closes this channel because the connect has failed. */
  void failed(Throwable cause, ChannelPromise promise) {
    connecting = null;
    promise.tryFailure(cause);
    unsafe().close(voidPromise());
  }

  @Override
  protected void doDisconnect() {
    doClose();
  }

  @Override
  protected void doClose() {
    closed = true;
    ((LifeCycle) super.unsafe()).early.fail(ClosedChannelException::new);
    AutoConnect begun = connecting;
    if (begun != null) {
      begun.end(new ClosedChannelException());
    }
    Channel to = chosen;
    if (to != null && to.isOpen()) {
      to.unsafe().closeForcibly();
    }
  }

  @Override
  protected void doDeregister() {
    IoRegistration made = registration;
    if (made != null) {
      registration = null;
      made.cancel();
    }
    if (isOpen()) {
      unsafe().close(voidPromise());
    }
    // Netty does not fire it: the channel below was inactive before this one closed.
    if (chosen != null && !endWasTold) {
      endWasTold = true;
      pipeline().fireChannelInactive();
    }
  }

  @Override
  protected void doBeginRead() {
    readWanted = true;
  }

  /** Cancels the pending read over RDMA; a socket channel does that by its own AUTO_READ. */
  private void stopReading() {
    readWanted = false;
    if (chosen instanceof RdmaSocketChannel rdma) {
      rdma.stopReading();
    }
  }

  @Override
  protected void doWrite(ChannelOutboundBuffer queue) {
    throw new IllegalStateException("the channel below writes");
  }

  @Override
  public boolean isInputShutdown() {
    SocketChannel to = chosen;
    return to == null ? closed : to.isInputShutdown();
  }

  @Override
  public boolean isOutputShutdown() {
    SocketChannel to = chosen;
    return to == null ? closed : to.isOutputShutdown();
  }

  @Override
  public boolean isShutdown() {
    return isInputShutdown() && isOutputShutdown();
  }

  @Override
  public ChannelFuture shutdownInput() {
    return shutdownInput(newPromise());
  }

  @Override
  public ChannelFuture shutdownInput(ChannelPromise promise) {
    return below(promise, SocketChannel::shutdownInput);
  }

  @Override
  public ChannelFuture shutdownOutput() {
    return shutdownOutput(newPromise());
  }

  @Override
  public ChannelFuture shutdownOutput(ChannelPromise promise) {
    return below(promise, SocketChannel::shutdownOutput);
  }

  @Override
  public ChannelFuture shutdown() {
    return shutdown(newPromise());
  }

  @Override
  public ChannelFuture shutdown(ChannelPromise promise) {
    return below(promise, SocketChannel::shutdown);
  }

  private ChannelFuture below(
      ChannelPromise promise, BiFunction<SocketChannel, ChannelPromise, ChannelFuture> operation) {
    SocketChannel to = chosen;
    if (to != null) {
      return operation.apply(to, promise);
    }
    promise.tryFailure(closed ? new ClosedChannelException() : new NotYetConnectedException());
    return promise;
  }

  /** Lets the channel add the bytes of writes that other threads have submitted to the loop. */
  private static final class Pipeline extends DefaultChannelPipeline {
    Pipeline(Channel channel) {
      super(channel);
    }

    void count(long bytes) {
      incrementPendingOutboundBytes(bytes);
    }
  }

  /** The life cycle of the channel, and its operations until it is connected. */
  private final class LifeCycle extends AbstractUnsafe implements RdmaIoHandle {
    final EarlyWrites early = new EarlyWrites(AutoSocketChannel.this);
    final AutoOperations operations = new AutoOperations(this, early);

    /** Delegates the operations to a channel, and passes the earlier writes to it. */
    void handTo(SocketChannel made) {
      ChannelOutboundBuffer counted = outboundBuffer();
      operations.handTo(made.unsafe());
      if (counted != null) {
        ((Pipeline) pipeline()).count(counted.totalPendingWriteBytes());
      }
      early.writeTo(made.unsafe());
    }

    @Override
    public void connect(SocketAddress to, @Nullable SocketAddress from, ChannelPromise promise) {
      if (promise.isDone() || !ensureOpen(promise)) {
        return;
      }
      if (connecting != null) {
        promise.tryFailure(new ConnectionPendingException());
        return;
      }
      if (chosen != null) {
        promise.tryFailure(new AlreadyConnectedException());
        return;
      }
      RdmaIoHandler on = handler;
      SharedHca hca = on == null ? null : on.hca();
      if (hca != null && hca.isLocked()) {
        failed(new ConnectException(SharedHca.LOCKED + hca.address()), promise);
        return;
      }
      AutoConnect begun =
          new AutoConnect(AutoSocketChannel.this, hca, to, from == null ? bound : from, promise);
      connecting = begun;
      promise.addListener(
          done -> {
            if (done.isCancelled()) {
              operations.close(voidPromise());
            }
          });
      begun.next();
    }

    @Override
    public void handle(IoRegistration on, IoEvent event) {
      // Nothing to do: the channel below is called itself.
    }

    @Override
    public void close() {
      operations.close(voidPromise());
    }
  }
}
