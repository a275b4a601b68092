// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.AbstractServerChannel;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.verbena.HcaException;
import io.verbena.core.cm.EventTarget;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Listens for connections over RDMA, as {@code NioServerSocketChannel} does over TCP; on an event
 * loop with an {@link RdmaIoHandler}.
 *
 * <p>A connection is accepted once its channel is registered with a loop. Until this channel reads,
 * up to {@code SO_BACKLOG} connect requests wait; more are rejected. If its device fails, its
 * pipeline gets an {@link HcaException}, and it closes.
 */
@SuppressWarnings("deprecation") // of RecvByteBufAllocator.Handle, which the pipeline still gives
public final class RdmaServerSocketChannel extends AbstractServerChannel
    implements ServerSocketChannel {
  private final RdmaServerSocketChannelConfig config = new RdmaServerSocketChannelConfig(this);
  private final ConcurrentLinkedQueue<ConnectionEvent> requests = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private @Nullable IoRegistration registration;
  private @Nullable RdmaIoHandler handler;
  private @Nullable ConnectionListener listener;
  private volatile @Nullable InetSocketAddress address;
  private volatile boolean closed;
  private boolean readPending;

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
    InetAddress host = socket.getAddress();
    if (host != null && !on.hca().canListenAt(host)) {
      throw new BindException(
          "Cannot assign requested address: " + local + ": no address of this machine");
    }
    try {
      ConnectionListener made =
          on.hca()
              .dispatcher()
              .listen(on.hca().uri(socket), config.getBacklog(), (EventTarget) unsafe());
      listener = made;
      address = on.hca().local(made.address().getPort());
    } catch (VerbsException e) {
      throw (IOException)
          new BindException(
                  e.error() == VerbsError.ADDRESS_IN_USE
                      ? "Address already in use: " + local
                      : "Cannot listen on " + local + ": " + e.getMessage())
              .initCause(e);
    }
  }

  /** Handles a connect request, on the dispatcher's thread. */
  private void requested(ConnectionEvent request) {
    if (Handshake.decode(request.privateData()) == null) {
      // Of another protocol: it makes no channel and no line in a log.
      request.identifier().close();
      return;
    }
    if (waiting.incrementAndGet() > config.getBacklog()) {
      waiting.decrementAndGet();
      request.identifier().close();
      return;
    }
    requests.add(request);
    try {
      eventLoop().execute(this::readRequests);
    } catch (RejectedExecutionException e) {
      dropRequests();
    }
  }

  @Override
  protected void doBeginRead() {
    readPending = true;
    if (!requests.isEmpty()) {
      eventLoop().execute(this::readRequests);
    }
  }

  private void readRequests() {
    if (closed) {
      dropRequests();
      return;
    }
    RdmaIoHandler on = handler;
    if (!readPending || requests.isEmpty() || on == null) {
      return;
    }
    RecvByteBufAllocator.Handle handle = unsafe().recvBufAllocHandle();
    handle.reset(config);
    ChannelPipeline pipeline = pipeline();
    do {
      ConnectionEvent request = requests.poll();
      if (request == null) {
        break;
      }
      waiting.decrementAndGet();
      readPending = false;
      handle.incMessagesRead(1);
      RdmaSocketChannel child = new RdmaSocketChannel(this, on.hca(), request);
      on.hca().dispatcher().register(request.identifier(), (EventTarget) child.unsafe());
      pipeline.fireChannelRead(child);
    } while (handle.continueReading());
    handle.readComplete();
    pipeline.fireChannelReadComplete();
    if (readPending && !requests.isEmpty()) {
      eventLoop().execute(this::readRequests);
    }
  }

  private void dropRequests() {
    for (ConnectionEvent request = requests.poll(); request != null; request = requests.poll()) {
      waiting.decrementAndGet();
      request.identifier().close();
    }
  }

  @Override
  protected void doClose() {
    closed = true;
    ConnectionListener listening = listener;
    RdmaIoHandler on = handler;
    if (listening != null && on != null) {
      listener = null;
      on.hca().dispatcher().close(listening);
    }
    dropRequests();
  }

  /** Fails the channel because no connect request will come; on the dispatcher's thread. */
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
      requested(request);
    }

    @Override
    public void deviceFailed(VerbsException why) {
      RdmaServerSocketChannel.this.deviceFailed(why);
    }

    @Override
    public void connect(SocketAddress remote, SocketAddress local, ChannelPromise promise) {
      promise.setFailure(new UnsupportedOperationException("connect: a channel that listens"));
    }

    @Override
    public void handle(IoRegistration on, IoEvent event) {
      // Streams learn of it by their completions.
    }

    @Override
    public void close() {
      close(voidPromise());
    }
  }
}
