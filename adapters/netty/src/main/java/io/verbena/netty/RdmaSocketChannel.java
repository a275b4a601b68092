// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.FileRegion;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.util.internal.StringUtil;
import io.verbena.core.cm.ProgramData;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A connection over RDMA that behaves as a {@code NioSocketChannel} does: a stream of bytes each
 * way. On an event loop with an {@link RdmaIoHandler}.
 *
 * <p><b>Copies.</b> A buffer of the channel's allocator, and any large direct buffer, is read by
 * the HCA from where it is; it stays in the channel's queue, and counts for writability, until the
 * HCA has sent it. What is small, on the heap or in a file is copied, as much as fits into one
 * message. A write's promise succeeds when its bytes are copied or sent: whoever has retained the
 * buffer may change it then. What arrives in large messages is handed to the pipeline in the memory
 * that it arrived in.
 *
 * <p><b>Closing.</b> What was flushed still arrives, within {@link
 * io.verbena.RdmaOptions#closeTimeout}, and so its promises succeed as the channel closes. Of what
 * was not posted yet 1 MiB is kept; the rest fails, as do files and what was not flushed. A channel
 * lives on one loop: deregistering closes it.
 */
@SuppressWarnings("deprecation") // of RecvByteBufAllocator.Handle, which the pipeline still gives
public final class RdmaSocketChannel extends AbstractChannel implements SocketChannel {
  private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);
  private static final String EXPECTED =
      " (expected: "
          + StringUtil.simpleClassName(ByteBuf.class)
          + ", "
          + StringUtil.simpleClassName(FileRegion.class)
          + ")";

  private enum State {
    OPEN,
    CONNECTING,
    ACTIVE,
    CLOSED
  }

  private final RdmaSocketChannelConfig config;
  private final @Nullable ConnectionEvent request;

  /** Of the channel in front of this one, once that has chosen it. */
  private @Nullable ChannelPipeline chosenBy;

  private @Nullable IoRegistration registration;
  private volatile @Nullable RdmaIoHandler handler;
  private @Nullable ConnectionSetup setup;
  private @Nullable Stream stream;
  private @Nullable ChannelOutboundBuffer writes;
  private volatile State state = State.OPEN;
  private volatile @Nullable InetSocketAddress local;
  private volatile @Nullable InetSocketAddress remote;
  private @Nullable InetSocketAddress connectingTo;
  private volatile boolean inputShutdown;
  private volatile boolean outputShutdown;
  private boolean readPending;
  private boolean reading;
  private boolean endWasTold;

  /** Whether the stream has what was flushed. */
  private boolean outputEnded;

  /** Creates a channel that connects. */
  public RdmaSocketChannel() {
    super(null);
    config = new RdmaSocketChannelConfig(this);
    request = null;
  }

  /** Creates a channel that connects, with the options of the channel in front of it. */
  RdmaSocketChannel(RdmaSocketChannelConfig config) {
    super(null);
    this.config = config;
    request = null;
  }

  /**
   * Creates a channel for a connect request, which it accepts when it is registered.
   *
   * @param remote who asks for it
   */
  RdmaSocketChannel(
      RdmaServerSocketChannel parent, InetSocketAddress remote, ConnectionEvent request) {
    super(parent);
    config = new RdmaSocketChannelConfig(this);
    this.request = request;
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

  /** Hands what arrives to the pipeline of the channel in front of this one, without a detour. */
  void chosenBy(ChannelPipeline pipeline) {
    chosenBy = pipeline;
  }

  @Override
  public ChannelPipeline pipeline() {
    ChannelPipeline other = chosenBy;
    return other == null ? super.pipeline() : other;
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
              if (request == null) {
                promise.setSuccess();
              } else {
                accept(on, request, promise);
              }
            });
  }

  private void accept(RdmaIoHandler on, ConnectionEvent offer, ChannelPromise promise) {
    if (state != State.OPEN) {
      promise.setFailure(new ClosedChannelException());
      return;
    }
    state = State.CONNECTING;
    ConnectionSetup begun =
        new ConnectionSetup(on, ours(), promise, config.getConnectTimeoutMillis(), offer);
    setup = begun;
    begun.accept();
  }

  /** Handles an event of the connection manager, on the loop. */
  private void step(ConnectionEvent event) {
    Stream at = stream;
    ConnectionSetup begun = setup;
    if (at == null) {
      if (begun != null) {
        begun.step(event);
      }
    } else if (event.type() == ConnectionEvent.Type.DISCONNECTED) {
      at.disconnected();
    } else if (event.type() == ConnectionEvent.Type.DEVICE_REMOVAL) {
      at.deviceRemoved();
    }
  }

  @Override
  protected void doBind(SocketAddress address) throws BindException {
    InetSocketAddress wanted = own(address);
    if (local != null || setup != null || stream != null) {
      throw new AlreadyBoundException();
    }
    local =
        wanted.getPort() == 0
            ? new InetSocketAddress(wanted.getAddress(), LocalPorts.next())
            : wanted;
  }

  /**
   * Returns an address to bind.
   *
   * @throws BindException if it is not this HCA's
   */
  private InetSocketAddress own(SocketAddress address) throws BindException {
    RdmaIoHandler on = handler;
    if (!(address instanceof InetSocketAddress socket) || on == null) {
      throw new UnsupportedAddressTypeException();
    }
    if (socket.isUnresolved()) {
      throw new UnresolvedAddressException();
    }
    if (!on.hca().isOwn(socket.getAddress())) {
      throw new BindException(
          "Cannot assign requested address: " + address + ": no address of this HCA");
    }
    return socket;
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
    inputShutdown = true;
    outputShutdown = true;
    Stream at = stream;
    ConnectionSetup begun = setup;
    if (at == null) {
      if (begun != null) {
        begun.close();
      } else if (request != null) {
        request.identifier().close();
      }
    } else if (config.getSoLinger() == 0) {
      at.reset();
    } else {
      ByteBuf rest = null;
      try {
        rest = rest(at);
      } finally {
        at.close(rest);
      }
      succeedPosted(at);
    }
  }

  /** Returns what is flushed and not posted, which the stream is to keep: once. */
  private @Nullable ByteBuf rest(Stream at) throws Exception {
    ChannelOutboundBuffer queue = writes;
    if (queue == null || at.failure() != null || outputEnded) {
      return null;
    }
    outputEnded = true;
    return Tail.copy(queue, at.posted());
  }

  /**
   * What is posted, or kept, arrives though the channel ends: its writes have not failed. After
   * that, as who hears of it may close the channel.
   */
  private void succeedPosted(Stream at) {
    ChannelOutboundBuffer queue = writes;
    if (queue != null && at.failure() == null) {
      at.posted().removeAll(queue);
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
      ours().closeQuietly();
    }
  }

  @Override
  protected void doBeginRead() {
    readPending = true;
    Stream at = stream;
    if (at != null
        && isActive()
        && !reading
        && (inputShutdown || at.receiveBuffers().isReadable())) {
      at.schedule();
    }
  }

  private void read(Stream from) {
    ReceiveBuffers receiveBuffers = from.receiveBuffers();
    if (reading || !isActive()) {
      return;
    }
    if (inputShutdown) {
      tellEndOnce();
      return;
    }
    if (!readPending) {
      // The end is no byte: nobody has to ask for it.
      if (receiveBuffers.isAtEnd()) {
        end(pipeline());
      }
      return;
    }
    RecvByteBufAllocator.Handle handle = unsafe().recvBufAllocHandle();
    handle.reset(config);
    ChannelPipeline pipeline = pipeline();
    reading = true;
    boolean atEnd = false;
    try {
      do {
        ByteBuf bytes = receiveBuffers.read(handle, config.getAllocator(), config.copiesReads());
        if (bytes == null) {
          atEnd = receiveBuffers.isAtEnd();
          handle.lastBytesRead(atEnd ? -1 : 0);
          break;
        }
        handle.incMessagesRead(1);
        readPending = false;
        pipeline.fireChannelRead(bytes);
      } while (handle.continueReading() && isActive());
      if (atEnd) {
        readPending = false;
      }
      handle.readComplete();
      pipeline.fireChannelReadComplete();
      if (atEnd) {
        end(pipeline);
      }
    } catch (RuntimeException e) {
      // The pipeline catches what handlers throw: this is of the allocators, and bytes are missing.
      pipeline.fireExceptionCaught(e);
      ours().closeQuietly();
    } finally {
      reading = false;
    }
    if (from.isReset() || (readPending && isActive() && receiveBuffers.isReadable())) {
      from.schedule();
    }
  }

  private void end(ChannelPipeline pipeline) {
    if (!config.isAllowHalfClosure()) {
      ours().closeQuietly();
    } else if (!inputShutdown) {
      inputShutdown = true;
      pipeline.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
      tellEndOnce();
    }
  }

  /** Tells the pipeline once that there is nothing left to read. */
  private void tellEndOnce() {
    readPending = false;
    if (!endWasTold && isActive()) {
      endWasTold = true;
      pipeline().fireUserEventTriggered(ChannelInputShutdownReadComplete.INSTANCE);
    }
  }

  @Override
  protected Object filterOutboundMessage(Object message) {
    if (message instanceof ByteBuf || message instanceof FileRegion) {
      return message;
    }
    throw new UnsupportedOperationException(
        "unsupported message type: " + StringUtil.simpleClassName(message) + EXPECTED);
  }

  @Override
  protected void doWrite(ChannelOutboundBuffer queue) throws Exception {
    Stream to = stream;
    RdmaIoHandler on = handler;
    if (to == null || on == null) {
      throw new ClosedChannelException();
    }
    writes = queue;
    on.flusher().flush(queue, to);
  }

  @Override
  public boolean isInputShutdown() {
    return inputShutdown;
  }

  @Override
  public boolean isOutputShutdown() {
    return outputShutdown;
  }

  @Override
  public boolean isShutdown() {
    return inputShutdown && outputShutdown;
  }

  @Override
  protected void doShutdownOutput() throws Exception {
    Stream at = stream;
    if (at == null || !isActive()) {
      throw new NotYetConnectedException();
    }
    outputShutdown = true;
    at.shutdownOutput(rest(at));
    succeedPosted(at);
  }

  @Override
  public ChannelFuture shutdownOutput() {
    return shutdownOutput(newPromise());
  }

  @Override
  public ChannelFuture shutdownOutput(ChannelPromise promise) {
    EventLoop loop = eventLoop();
    if (loop.inEventLoop()) {
      ours().shutdownOutput(promise);
    } else {
      loop.execute(() -> ours().shutdownOutput(promise));
    }
    return promise;
  }

  @Override
  public ChannelFuture shutdownInput() {
    return shutdownInput(newPromise());
  }

  @Override
  public ChannelFuture shutdownInput(ChannelPromise promise) {
    EventLoop loop = eventLoop();
    if (loop.inEventLoop()) {
      shutdownInput0(promise);
    } else {
      loop.execute(() -> shutdownInput0(promise));
    }
    return promise;
  }

  private void shutdownInput0(ChannelPromise promise) {
    Stream at = stream;
    if (at == null || !isActive()) {
      promise.tryFailure(isOpen() ? new NotYetConnectedException() : new ClosedChannelException());
      return;
    }
    inputShutdown = true;
    at.receiveBuffers().discard();
    at.schedule();
    promise.trySuccess();
  }

  @Override
  public ChannelFuture shutdown() {
    return shutdown(newPromise());
  }

  @Override
  public ChannelFuture shutdown(ChannelPromise promise) {
    shutdownOutput()
        .addListener(
            output ->
                shutdownInput()
                    .addListener(
                        input -> {
                          Throwable cause = output.cause() == null ? input.cause() : output.cause();
                          if (cause == null) {
                            promise.trySuccess();
                          } else {
                            promise.tryFailure(cause);
                          }
                        }));
    return promise;
  }

  /** What the loop, the stream and the connection manager call. */
  private final class Unsafe extends AbstractUnsafe implements RdmaIoHandle, ConnectionSetup.Owner {
    @Override
    public void connect(SocketAddress to, SocketAddress from, ChannelPromise promise) {
      if (promise.isDone() || !ensureOpen(promise)) {
        return;
      }
      RdmaIoHandler on = handler;
      try {
        if (setup != null) {
          throw new ConnectionPendingException();
        }
        if (isActive()) {
          throw new AlreadyConnectedException();
        }
        if (!(to instanceof InetSocketAddress socket) || on == null) {
          throw new UnsupportedAddressTypeException();
        }
        String refusal = ProgramData.refuse(config.privateData());
        if (refusal != null) {
          throw new ConnectException(refusal);
        }
        InetSocketAddress bound = from == null ? local : own(from);
        int port = bound == null ? 0 : bound.getPort();
        setup = new ConnectionSetup(on, this, promise, config.setupMillis(), socket, port);
        connectingTo = socket;
        state = State.CONNECTING;
        promise.addListener(
            done -> {
              if (done.isCancelled()) {
                closeQuietly();
              }
            });
      } catch (VerbsException e) {
        promise.tryFailure(annotateConnectException(new ConnectException(e.getMessage()), to));
        closeIfClosed();
        closeQuietly();
      } catch (ConnectException | BindException | RuntimeException e) {
        promise.tryFailure(annotateConnectException(e, to));
        closeIfClosed();
      }
    }

    @Override
    public ByteBuffer privateData() {
      return config.privateData();
    }

    @Override
    public boolean isWanted() {
      ServerSocketChannel listening = parent();
      return listening == null || listening.isOpen();
    }

    @Override
    public void established(Stream made, @Nullable InetSocketAddress own, ChannelPromise promise) {
      stream = made;
      local = own == null ? local : own;
      remote = request == null ? connectingTo : remote;
      setup = null;
      state = State.ACTIVE;
      if (request != null) {
        promise.setSuccess();
        return;
      }
      // Whoever hears of it may close the channel: it was active all the same.
      boolean told = promise.trySuccess();
      pipeline().fireChannelActive();
      if (!told) {
        closeQuietly();
      }
    }

    @Override
    public void failed() {
      closeQuietly();
    }

    /** Called on the dispatcher's thread. */
    @Override
    public void event(ConnectionEvent event) {
      if (!isRegisteredWithLoop()) {
        // Only the client's going comes before the accept, and that fails then.
        return;
      }
      try {
        eventLoop().execute(() -> step(event));
      } catch (RejectedExecutionException e) {
        // The loop has ended, and with it all its connections.
        return;
      }
    }

    private boolean isRegisteredWithLoop() {
      return handler != null;
    }

    @Override
    public boolean isKeepAlive() {
      return config.isKeepAlive();
    }

    @Override
    public void readable() {
      Stream from = stream;
      if (from != null) {
        read(from);
      }
    }

    @Override
    public void writable() {
      flush0();
    }

    @Override
    public void broken(IOException cause) {
      if (isActive()) {
        readPending = false;
        pipeline().fireExceptionCaught(cause);
      }
      closeQuietly();
    }

    @Override
    public void handle(IoRegistration on, IoEvent event) {
      // Streams learn of it by their completions.
    }

    @Override
    public void close() {
      closeQuietly();
    }

    void closeQuietly() {
      close(voidPromise());
    }
  }
}
