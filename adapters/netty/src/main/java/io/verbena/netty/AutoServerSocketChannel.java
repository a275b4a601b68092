// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;

import io.netty.channel.AbstractServerChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.netty.util.NetUtil;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A server channel that listens over RDMA and over TCP at one port, for clients with {@link
 * AutoSocketChannel} and for clients of only one of the two. It is registered with an event loop of
 * {@link AutoIoHandler}; on a host without an HCA it listens over TCP only.
 *
 * <p>The pipeline gets the child channels of both media. A child has the attribute {@link
 * AutoSocketChannel#MEDIUM}; its {@code parent()} is the RDMA or TCP server channel that accepted
 * it. A bind binds both media, or fails with a {@link BindException} whose message begins with the
 * medium that failed. Port 0 chooses a port that is free over both. When one of the two server
 * channels closes, because the HCA has failed for example, the other one and this channel close
 * too.
 *
 * <p>TCP cannot enforce the limits and the accept hook of {@link RdmaChannelOption}, or the {@code
 * key-file} of an HCA. With any of them a bind fails, so that no client bypasses them over TCP;
 * once the channel is bound, the limits and the hook cannot be set. A bind also fails at the
 * address of an HCA of {@code iwarp://}, which listens on a TCP port itself.
 */
public final class AutoServerSocketChannel extends AbstractServerChannel
    implements ServerSocketChannel {
  /** The number of attempts to find a port that is free over TCP and over RDMA. */
  private static final int MOST_PORTS = 16;

  private final AutoServerSocketChannelConfig config =
      new AutoServerSocketChannelConfig(this, this::stopReading);

  /** Creates the socket channel; null for the kind that the loop has. */
  private final @Nullable ChannelFactory<? extends ServerSocketChannel> sockets;

  private @Nullable IoRegistration registration;
  private volatile List<Channel> listening = List.of();
  private volatile @Nullable InetSocketAddress address;
  private volatile boolean closed;

  /**
   * Creates a channel. Over TCP it uses the {@link SocketKind} of its loop, if that is one of
   * {@link RdmaSockets}; else NIO.
   */
  public AutoServerSocketChannel() {
    sockets = null;
  }

  /**
   * Creates a channel with a factory for its socket.
   *
   * @param sockets creates the socket channel, of a kind that the channel's loop drives: epoll, for
   *     example
   */
  public AutoServerSocketChannel(ChannelFactory<? extends ServerSocketChannel> sockets) {
    this.sockets = requireNonNull(sockets, "sockets");
  }

  @Override
  public ServerSocketChannelConfig config() {
    return config;
  }

  @Override
  public @Nullable InetSocketAddress localAddress() {
    return (InetSocketAddress) super.localAddress();
  }

  @Override
  public @Nullable InetSocketAddress remoteAddress() {
    return null;
  }

  @Override
  public boolean isOpen() {
    return !closed;
  }

  @Override
  public boolean isActive() {
    return !closed && address != null;
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
  protected void doRegister(ChannelPromise promise) {
    if (!RdmaIoHandler.isCompatibleLoop(eventLoop())) {
      promise.setSuccess();
      return;
    }
    ((IoEventLoop) eventLoop())
        .register((LifeCycle) unsafe())
        .addListener(
            done -> {
              // If a failed HCA cannot be opened again, the bind fails.
              if (done.isSuccess()) {
                registration = (IoRegistration) done.getNow();
              }
              promise.setSuccess();
            });
  }

  @Override
  protected void doDeregister() {
    IoRegistration made = registration;
    if (made != null) {
      registration = null;
      made.cancel();
    }
  }

  @Override
  protected @Nullable SocketAddress localAddress0() {
    return address;
  }

  @Override
  protected void doBind(SocketAddress local) throws IOException {
    if (!(local instanceof InetSocketAddress wanted)) {
      throw new UnsupportedAddressTypeException();
    }
    if (address != null) {
      throw new AlreadyBoundException();
    }
    if (wanted.isUnresolved()) {
      throw new BindException(
          "Cannot assign requested address: " + wanted + ": its host is not resolved");
    }
    String refusal = config.refusal();
    if (refusal != null) {
      throw new BindException(refusal);
    }
    int port = 1;
    while (!bind(wanted, port < MOST_PORTS)) {
      port++;
    }
  }

  /**
   * Binds both server channels.
   *
   * @param mayFail whether another port may be tried after this
   * @return whether both are bound; false if the port that TCP has chosen is not free over RDMA
   */
  private boolean bind(InetSocketAddress wanted, boolean mayFail) throws IOException {
    List<Channel> made = new ArrayList<>();
    try {
      if (wanted.getPort() == 0) {
        InetSocketAddress free = bindTcp(wanted, made);
        bindRdma(wanted, free.getPort(), made);
        address = free;
      } else {
        // RDMA first: a client that finds only TCP uses it, and remembers it for others.
        bindRdma(wanted, wanted.getPort(), made);
        address = bindTcp(wanted, made);
      }
    } catch (IOException | RuntimeException e) {
      made.forEach(AutoServerSocketChannel::close);
      if (mayFail && wanted.getPort() == 0 && isTakenOverRdma(e)) {
        return false;
      }
      throw e;
    }
    listening = List.copyOf(made);
    made.forEach(each -> each.closeFuture().addListener(end -> unsafe().close(voidPromise())));
    return true;
  }

  /**
   * Binds a socket, and adds it to {@code made} before the RDMA channel, so that it closes first.
   */
  private InetSocketAddress bindTcp(InetSocketAddress at, List<Channel> made) throws IOException {
    ChannelFactory<? extends ServerSocketChannel> own = sockets;
    ServerSocketChannel socket =
        (own == null ? RdmaSockets.socketsFor(eventLoop()).servers() : own).newChannel();
    made.add(0, socket);
    config.mirrorTo(socket.config());
    register(socket);
    bind(socket, AutoSocketChannel.TCP, at);
    return requireNonNull(socket.localAddress(), "localAddress");
  }

  /**
   * Binds over RDMA; does nothing on a loop without an HCA.
   *
   * @param port the port to bind: that of {@code wanted}, or one that TCP has chosen
   */
  private void bindRdma(InetSocketAddress wanted, int port, List<Channel> made) throws IOException {
    if (!RdmaIoHandler.isCompatibleLoop(eventLoop())) {
      return;
    }
    RdmaServerSocketChannel rdma = new RdmaServerSocketChannel(config);
    made.add(rdma);
    register(rdma);
    SharedHca hca = rdma.loopHca();
    if (hca.isLocked()) {
      throw new BindException(SharedHca.LOCKED + hca.address());
    }
    if (hca.sharesPortsWithTcp(wanted.getAddress())) {
      throw new BindException(
          hca.scheme()
              + ": "
              + NetUtil.toSocketAddressString(wanted)
              + ": iwarp:// and TCP both listen on this TCP port (expected: iwarp:// without"
              + " orTcp(), or orTcp() with roce:// or an RNIC)");
    }
    bind(rdma, hca.scheme(), new InetSocketAddress(wanted.getAddress(), port));
  }

  private static boolean isTakenOverRdma(Exception why) {
    return why.getCause() instanceof BindException failure
        && failure.getCause() instanceof VerbsException cause
        && cause.error() == VerbsError.ADDRESS_IN_USE;
  }

  private void register(Channel made) throws IOException {
    check("register", eventLoop().register(made));
  }

  private void bind(Channel made, String medium, InetSocketAddress at) throws IOException {
    made.pipeline()
        .addLast(
            new Bridge(this) {
              @Override
              public void channelRead(ChannelHandlerContext context, Object child) {
                ((Channel) child).attr(AutoSocketChannel.MEDIUM).set(medium);
                mediumChosen(medium);
                super.channelRead(context, child);
              }
            });
    ChannelPromise bound = made.newPromise();
    made.unsafe().bind(at, bound);
    check(medium, bound);
  }

  /** Throws if a registration or bind has failed; on the loop both are done when they return. */
  private static void check(String what, ChannelFuture done) throws IOException {
    Throwable cause = done.cause();
    if (cause != null || !done.isDone()) {
      throw (IOException)
          new BindException(what + ": " + (cause == null ? "not done" : cause.getMessage()))
              .initCause(cause);
    }
  }

  private void mediumChosen(String medium) {
    for (Channel each : listening) {
      if (each instanceof RdmaServerSocketChannel rdma) {
        rdma.loopHca().meter().mediumChosen(medium);
      }
    }
  }

  @Override
  protected void doBeginRead() {
    listening.forEach(each -> each.unsafe().beginRead());
  }

  /** Cancels the pending read over RDMA; a socket channel does that by its own AUTO_READ. */
  private void stopReading() {
    for (Channel each : listening) {
      if (each instanceof RdmaServerSocketChannel rdma) {
        rdma.stopReading();
      }
    }
  }

  @Override
  protected void doClose() {
    closed = true;
    listening.forEach(AutoServerSocketChannel::close);
  }

  private static void close(Channel each) {
    if (each.isOpen()) {
      each.unsafe().close(each.voidPromise());
    }
  }

  /** Closes the channel when its loop ends, whether it is bound or not. */
  private final class LifeCycle extends AbstractUnsafe implements RdmaIoHandle {
    @Override
    public void connect(SocketAddress remote, SocketAddress local, ChannelPromise promise) {
      promise.setFailure(
          new UnsupportedOperationException("connect: not supported by a server channel"));
    }

    @Override
    public void handle(IoRegistration on, IoEvent event) {
      // Nothing to do: the channels below are called themselves.
    }

    @Override
    public void close() {
      close(voidPromise());
    }
  }
}
