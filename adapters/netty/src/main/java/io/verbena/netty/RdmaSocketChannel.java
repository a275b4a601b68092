// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.util.concurrent.PromiseCombiner;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection over RDMA that behaves like a {@code NioSocketChannel}: a stream of bytes in each
 * direction. It is registered with an event loop that has an {@link RdmaIoHandler}.
 *
 * <p><b>Copies.</b> The HCA reads buffers of the channel's allocator, and large direct buffers, in
 * place; such a buffer stays in the channel's outbound queue, and counts for writability, until the
 * HCA has sent it. Small buffers, heap buffers and files are copied, as many bytes at a time as one
 * message takes. A write's promise succeeds when its bytes are copied or sent; from then on a
 * program that has retained the buffer may change it. Large messages are handed to the pipeline in
 * the buffers that they arrived in.
 *
 * <p><b>Closing.</b> Flushed bytes still arrive, within {@link
 * io.verbena.RdmaOptions#closeTimeout}, so their promises succeed as the channel closes. Of the
 * flushed bytes that are not posted yet, up to 1 MiB is kept; writes beyond that fail, as do files
 * and writes that were not flushed. A channel stays on one loop: deregistering closes it.
 */
public final class RdmaSocketChannel extends AbstractChannel implements SocketChannel {
  private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);

  private enum State {
    OPEN,
    ACTIVE,
    CLOSED
  }

  private final RdmaSocketChannelConfig config;
  private final ChannelConnector connector;
  private final ChannelInput input;
  private final ChannelOutput output = new ChannelOutput();

  /**
   * The pipeline of the {@link AutoSocketChannel} that delegates to this channel, if there is one.
   */
  private @Nullable ChannelPipeline frontPipeline;

  /**
   * The steps to run as the channel closes. Not listeners of {@code closeFuture}, which Netty does
   * not complete when a channel is closed forcibly.
   */
  private final List<Runnable> atClose = new ArrayList<>(2);

  private @Nullable IoRegistration registration;
  private volatile @Nullable RdmaIoHandler handler;
  private volatile @Nullable Stream stream;
  private volatile State state = State.OPEN;
  private volatile @Nullable InetSocketAddress local;
  private volatile @Nullable InetSocketAddress remote;

  /** Creates a client channel. */
  public RdmaSocketChannel() {
    super(null);
    config = new RdmaSocketChannelConfig(this, this::stopReading);
    connector = new ChannelConnector(this, config, null);
    input = new ChannelInput(this, config);
  }

  /** Creates a client channel that shares the options of an {@link AutoSocketChannel}. */
  RdmaSocketChannel(RdmaSocketChannelConfig config) {
    super(null);
    this.config = config;
    connector = new ChannelConnector(this, config, null);
    input = new ChannelInput(this, config);
  }

  /**
   * Creates the channel of a connect request, which it accepts when it is registered.
   *
   * @param remote the client's address
   */
  RdmaSocketChannel(
      RdmaServerSocketChannel parent, InetSocketAddress remote, PendingAccept pending) {
    super(parent);
    config = new RdmaSocketChannelConfig(this, this::stopReading);
    connector = new ChannelConnector(this, config, pending);
    input = new ChannelInput(this, config);
    this.remote = remote;
    local = parent.localAddress();
    config.setOption(
        RdmaChannelOption.COPY_READS, parent.config().getOption(RdmaChannelOption.COPY_READS));
  }

  @Override
  public @Nullable ServerSocketChannel parent() {
    return (ServerSocketChannel) super.parent();
  }

  @Override
  public SocketChannelConfig config() {
    return config;
  }

  /**
   * Replaces this channel's pipeline by that of the {@link AutoSocketChannel} that delegates to it.
   */
  void usePipeline(ChannelPipeline pipeline) {
    frontPipeline = pipeline;
  }

  @Override
  public ChannelPipeline pipeline() {
    ChannelPipeline front = frontPipeline;
    return front == null ? super.pipeline() : front;
  }

  @Override
  public ChannelMetadata metadata() {
    return METADATA;
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
  public boolean isOpen() {
    return state != State.CLOSED;
  }

  @Override
  public boolean isActive() {
    return state == State.ACTIVE;
  }

  @Override
  protected boolean isCompatible(EventLoop loop) {
    return RdmaIoHandler.isCompatibleLoop(loop);
  }

  @Override
  protected @Nullable SocketAddress localAddress0() {
    return local;
  }

  @Override
  protected @Nullable SocketAddress remoteAddress0() {
    return remote;
  }

  @Override
  protected AbstractUnsafe newUnsafe() {
    return new Unsafe();
  }

  private Unsafe ours() {
    return (Unsafe) unsafe();
  }

  @Override
  protected void doRegister(ChannelPromise promise) {
    ((IoEventLoop) eventLoop())
        .register(ours())
        .addListener(
            done -> {
              if (!done.isSuccess()) {
                promise.setFailure(done.cause());
                return;
              }
              IoRegistration made = (IoRegistration) done.getNow();
              registration = made;
              RdmaIoHandler on = made.attachment();
              handler = on;
              config.offerAllocator(on.hca().memory().lenientAllocator());
              connector.registered(on, promise);
            });
  }

  @Override
  protected void doBind(SocketAddress address) throws BindException {
    InetSocketAddress wanted = ChannelConnector.checkBindAddress(address, handler);
    if (local != null || connector.isUnderWay() || stream != null) {
      throw new AlreadyBoundException();
    }
    local =
        wanted.getPort() == 0
            ? new InetSocketAddress(wanted.getAddress(), LocalPorts.next())
            : wanted;
  }

  /** Adds a step that runs when the channel closes. The channel must be open. */
  void atClose(Runnable step) {
    atClose.add(step);
  }

  @Override
  protected void doDisconnect() throws Exception {
    doClose();
  }

  @Override
  protected void doClose() throws Exception {
    if (state == State.CLOSED) {
      return;
    }
    state = State.CLOSED;
    try {
      endConnection();
    } finally {
      atClose.forEach(Runnable::run);
      atClose.clear();
    }
  }

  private void endConnection() throws Exception {
    if (!isRegistered()) {
      // A channel whose setup has failed is on the loop already, but not registered for Netty,
      // which therefore does not deregister it.
      cancelRegistration();
    }
    input.close();
    output.close();
    Stream at = stream;
    if (at == null) {
      connector.close();
    } else if (config.getSoLinger() == 0) {
      at.reset();
    } else {
      output.closeBehind(at);
    }
  }

  @Override
  protected void doDeregister() {
    cancelRegistration();
    if (isOpen()) {
      ours().close();
    }
  }

  private void cancelRegistration() {
    IoRegistration made = registration;
    if (made != null) {
      registration = null;
      made.cancel();
    }
  }

  @Override
  protected void doBeginRead() {
    input.beginRead(stream);
  }

  /** Stops handing bytes to the pipeline until the next read. */
  void stopReading() {
    input.stop();
  }

  @Override
  protected Object filterOutboundMessage(Object message) {
    return ChannelOutput.check(message);
  }

  @Override
  protected void doWrite(ChannelOutboundBuffer queue) throws Exception {
    Stream to = stream;
    RdmaIoHandler on = handler;
    if (to == null || on == null) {
      throw new ClosedChannelException();
    }
    output.flush(queue, on.flusher(), to);
  }

  @Override
  public boolean isInputShutdown() {
    return input.isShutdown();
  }

  @Override
  public boolean isOutputShutdown() {
    return output.isShutdown();
  }

  @Override
  public boolean isShutdown() {
    return isInputShutdown() && isOutputShutdown();
  }

  @Override
  protected void doShutdownOutput() throws Exception {
    Stream at = stream;
    if (at == null || !isActive()) {
      throw new NotYetConnectedException();
    }
    output.shutdown(at);
  }

  @Override
  public ChannelFuture shutdownOutput() {
    return shutdownOutput(newPromise());
  }

  @Override
  public ChannelFuture shutdownOutput(ChannelPromise promise) {
    return onLoop(promise, ours()::shutdownOutput);
  }

  @Override
  public ChannelFuture shutdownInput() {
    return shutdownInput(newPromise());
  }

  @Override
  public ChannelFuture shutdownInput(ChannelPromise promise) {
    return onLoop(promise, to -> input.shutdown(stream, to));
  }

  @Override
  public ChannelFuture shutdown() {
    return shutdown(newPromise());
  }

  @Override
  public ChannelFuture shutdown(ChannelPromise promise) {
    return onLoop(
        promise,
        to -> {
          PromiseCombiner both = new PromiseCombiner(eventLoop());
          both.add(shutdownOutput());
          both.add(shutdownInput());
          both.finish(to);
        });
  }

  private ChannelFuture onLoop(ChannelPromise promise, Consumer<ChannelPromise> operation) {
    EventLoop loop = eventLoop();
    if (loop.inEventLoop()) {
      operation.accept(promise);
    } else {
      loop.execute(() -> operation.accept(promise));
    }
    return promise;
  }

  /** Returns the connector, which handles the connection manager's events of this channel. */
  ChannelConnector connector() {
    return connector;
  }

  /** Returns the handler of the channel's loop; null before the channel is registered. */
  @Nullable RdmaIoHandler handler() {
    return handler;
  }

  /** Returns the stream; null before the channel is connected. */
  @Nullable Stream stream() {
    return stream;
  }

  /** Returns the object that the stream calls back. */
  Stream.Owner streamOwner() {
    return ours();
  }

  /**
   * Makes the channel active.
   *
   * @param own the local address; null to keep the bound one
   * @param peer the remote address; null to keep the known one
   */
  void connected(Stream made, @Nullable InetSocketAddress own, @Nullable InetSocketAddress peer) {
    stream = made;
    local = own == null ? local : own;
    remote = peer == null ? remote : peer;
    state = State.ACTIVE;
  }

  void closeQuietly() {
    ours().close();
  }

  /** The operations that the loop and the stream call. */
  private final class Unsafe extends AbstractUnsafe implements RdmaIoHandle, Stream.Owner {
    @Override
    public void connect(SocketAddress to, SocketAddress from, ChannelPromise promise) {
      if (promise.isDone() || !ensureOpen(promise)) {
        return;
      }
      try {
        connector.connect(to, from == null ? local : from, promise);
      } catch (VerbsException e) {
        promise.tryFailure(annotateConnectException(new ConnectException(e.getMessage()), to));
        closeIfClosed();
        close();
      } catch (ConnectException | BindException | RuntimeException e) {
        promise.tryFailure(annotateConnectException(e, to));
        closeIfClosed();
      }
    }

    @Override
    public boolean wantsBytes() {
      return input.wantsBytes();
    }

    @Override
    public boolean isKeepAlive() {
      return config.isKeepAlive();
    }

    @Override
    public void readable() {
      Stream from = stream;
      if (from != null) {
        input.read(from);
      }
    }

    @Override
    public void writable() {
      flush0();
    }

    @Override
    public void broken(IOException cause) {
      if (isActive()) {
        input.stop();
        pipeline().fireExceptionCaught(cause);
      }
      close();
    }

    @Override
    public void handle(IoRegistration on, IoEvent event) {
      // Nothing to do: streams are called with their completions.
    }

    @Override
    public void close() {
      close(voidPromise());
    }
  }
}
