// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;

import io.netty.channel.AbstractServerChannel;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPipeline;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.verbena.HcaException;
import io.verbena.RdmaConnectException;
import io.verbena.core.cm.EventTarget;
import io.verbena.netty.wire.Handshake;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A server channel over RDMA, the counterpart of {@code NioServerSocketChannel}. It is registered
 * with an event loop that has an {@link RdmaIoHandler}.
 *
 * <p>A connect request is accepted when its child channel is registered with a loop. Until this
 * channel reads, up to {@code SO_BACKLOG} requests wait; further ones are rejected. If the device
 * fails, the pipeline gets an {@link HcaException}, and the channel closes.
 */
@SuppressWarnings("deprecation") // of RecvByteBufAllocator.Handle, which the pipeline still gives
public final class RdmaServerSocketChannel extends AbstractServerChannel
    implements ServerSocketChannel {
  private static final Logger LOG = System.getLogger("io.verbena.connection");

  private final RdmaServerSocketChannelConfig config;
  private final Admission admission;
  private @Nullable IoRegistration registration;
  private @Nullable RdmaIoHandler handler;
  private @Nullable ConnectionListener listener;

  /**
   * The HCA of the listener, retained while it listens; the loop may have opened the HCA again
   * since.
   */
  private volatile @Nullable SharedHca hca;

  private final ClientAddresses clients = new ClientAddresses();
  private volatile @Nullable InetSocketAddress address;
  private volatile boolean closed;
  private boolean readPending;

  /** Creates a server channel. */
  public RdmaServerSocketChannel() {
    config = new RdmaServerSocketChannelConfig(this, this::stopReading);
    admission = new Admission(this, config);
  }

  /** Creates a server channel that shares the options of an {@link AutoServerSocketChannel}. */
  RdmaServerSocketChannel(RdmaServerSocketChannelConfig config) {
    this.config = config;
    admission = new Admission(this, config);
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
    return RdmaIoHandler.isCompatibleLoop(loop);
  }

  @Override
  protected @Nullable SocketAddress localAddress0() {
    return address;
  }

  @Override
  protected DefaultChannelPipeline newChannelPipeline() {
    return new Pipeline(this);
  }

  /** Logs the failures of accept hooks that no handler consumes. */
  private static final class Pipeline extends DefaultChannelPipeline {
    Pipeline(RdmaServerSocketChannel channel) {
      super(channel);
    }

    @Override
    protected void onUnhandledInboundUserEventTriggered(Object event) {
      if (event instanceof RdmaConnectException failure) {
        LOG.log(Level.WARNING, failure.getMessage(), failure);
      }
      super.onUnhandledInboundUserEventTriggered(event);
    }
  }

  @Override
  protected AbstractUnsafe newUnsafe() {
    return new Unsafe();
  }

  @Override
  protected void doRegister(ChannelPromise promise) {
    ((IoEventLoop) eventLoop())
        .register((Unsafe) unsafe())
        .addListener(
            done -> {
              if (done.isSuccess()) {
                IoRegistration made = (IoRegistration) done.getNow();
                registration = made;
                handler = made.attachment();
                promise.setSuccess();
              } else {
                promise.setFailure(done.cause());
              }
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
  protected void doBind(SocketAddress local) throws IOException {
    RdmaIoHandler on = handler;
    if (!(local instanceof InetSocketAddress socket) || on == null) {
      throw new UnsupportedAddressTypeException();
    }
    if (address != null) {
      throw new AlreadyBoundException();
    }
    InetAddress host = socket.getAddress();
    if (host != null && !on.hca().canListenAt(host)) {
      throw new BindException(
          "Cannot assign requested address: " + local + ": no address of this machine");
    }
    SharedHca at = on.hca();
    // Set first: a request may arrive before listen() returns.
    hca = at;
    try {
      ConnectionListener made =
          at.dispatcher().listen(at.uri(socket), config.getBacklog(), (EventTarget) unsafe());
      listener = made;
      at.retain();
      address = at.local(made);
    } catch (VerbsException e) {
      throw (IOException)
          new BindException(
                  e.error() == VerbsError.ADDRESS_IN_USE
                      ? "Address already in use: " + local
                      : "Cannot listen on " + local + ": " + e.getMessage())
              .initCause(e);
    }
  }

  /** Returns the HCA of the channel's loop. The channel must be registered. */
  SharedHca loopHca() {
    return requireNonNull(handler, "handler").hca();
  }

  /** Returns the number of connections that count for {@link RdmaChannelOption#MAX_CONNECTIONS}. */
  int connectionsTaken() {
    return admission.connectionsTaken();
  }

  @Override
  protected void doBeginRead() {
    readPending = true;
    if (admission.isWaiting()) {
      eventLoop().execute(this::readRequests);
    }
  }

  /** Stops handing connect requests to the pipeline until the next read. */
  void stopReading() {
    readPending = false;
  }

  /** Hands admitted requests to the pipeline if a read is pending; on the event loop. */
  void readRequests() {
    if (closed) {
      admission.close();
      return;
    }
    SharedHca at = hca;
    if (!readPending || !admission.isWaiting() || at == null) {
      return;
    }
    RecvByteBufAllocator.Handle handle = unsafe().recvBufAllocHandle();
    handle.reset(config);
    ChannelPipeline pipeline = pipeline();
    do {
      PendingAccept request = admission.poll();
      if (request == null) {
        break;
      }
      readPending = false;
      handle.incMessagesRead(1);
      pipeline.fireChannelRead(child(at, request));
    } while (handle.continueReading());
    handle.readComplete();
    pipeline.fireChannelReadComplete();
    if (readPending && admission.isWaiting()) {
      eventLoop().execute(this::readRequests);
    }
  }

  private RdmaSocketChannel child(SharedHca at, PendingAccept pending) {
    ConnectionEvent request = pending.event();
    Handshake handshake = Handshake.decode(request.privateData());
    InetSocketAddress client =
        clients.take(at.remote(request.identifier()), handshake == null ? 0 : handshake.port());
    RdmaSocketChannel child = new RdmaSocketChannel(this, client, pending);
    child.atClose(
        () -> {
          clients.release(client);
          pending.releaseSlot();
        });
    at.dispatcher().register(request.identifier(), child.connector());
    return child;
  }

  @Override
  protected void doClose() {
    closed = true;
    ConnectionListener listening = listener;
    SharedHca at = hca;
    if (listening != null && at != null) {
      listener = null;
      try {
        at.close("listener", () -> at.dispatcher().close(listening));
        admission.close();
      } finally {
        at.release();
      }
    }
  }

  /** Fails the channel because its device has failed; called on the dispatcher's thread. */
  private void deviceFailed(VerbsException why) {
    HcaException failure =
        new HcaException("bind", null, null, "the device of " + address + " has failed", why);
    try {
      eventLoop().execute(() -> fail(failure));
    } catch (RejectedExecutionException e) {
      // The loop has shut down, and has closed its channels.
      return;
    }
  }

  private void fail(HcaException failure) {
    if (!closed) {
      pipeline().fireExceptionCaught(failure);
      unsafe().close(voidPromise());
    }
  }

  private final class Unsafe extends AbstractUnsafe implements RdmaIoHandle, EventTarget {
    @Override
    public void event(ConnectionEvent request) {
      admission.requested(request, requireNonNull(hca, "hca"));
    }

    @Override
    public void deviceFailed(VerbsException why) {
      RdmaServerSocketChannel.this.deviceFailed(why);
    }

    @Override
    public void connect(SocketAddress remote, SocketAddress local, ChannelPromise promise) {
      promise.setFailure(
          new UnsupportedOperationException("connect: not supported by a server channel"));
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
