// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;

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
import io.netty.util.concurrent.Future;
import io.verbena.AcceptDecision;
import io.verbena.ConnectRequest;
import io.verbena.HcaException;
import io.verbena.RdmaConnectException;
import io.verbena.RejectReason;
import io.verbena.core.cm.ConnectionSlots;
import io.verbena.core.cm.EventTarget;
import io.verbena.core.cm.ProgramData;
import io.verbena.netty.wire.Handshake;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
  private final RdmaServerSocketChannelConfig config;
  private final ConnectionSlots slots = new ConnectionSlots();

  /** Those that the hook decides on. */
  private final Set<PendingAccept> undecided = new HashSet<>();

  private final ConcurrentLinkedQueue<PendingAccept> requests = new ConcurrentLinkedQueue<>();

  /** Those that wait for the hook, or to be read. */
  private final AtomicInteger waiting = new AtomicInteger();

  private @Nullable IoRegistration registration;
  private @Nullable RdmaIoHandler handler;
  private @Nullable ConnectionListener listener;

  /** The HCA of the listener, which keeps it open; the loop may have opened it again meanwhile. */
  private volatile @Nullable SharedHca hca;

  /** The addresses of its clients. */
  private final Set<InetSocketAddress> clients = ConcurrentHashMap.newKeySet();

  private volatile @Nullable InetSocketAddress address;
  private volatile boolean closed;
  private boolean readPending;

  /** Creates a channel that listens. */
  public RdmaServerSocketChannel() {
    config = new RdmaServerSocketChannelConfig(this);
  }

  /** Creates a channel that listens, with the options of the channel in front of it. */
  RdmaServerSocketChannel(RdmaServerSocketChannelConfig config) {
    this.config = config;
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
    SharedHca at = on.hca();
    // The first request may come before this returns.
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

  /** Returns the HCA of its loop, with which it is registered. */
  SharedHca loopHca() {
    return requireNonNull(handler, "handler").hca();
  }

  /** Returns how many connections count against the limit. */
  int connectionsTaken() {
    return slots.taken();
  }

  /** Handles a connect request, on the dispatcher's thread. */
  private void requested(ConnectionEvent request) {
    SharedHca at = hca;
    ByteBuffer data = ProgramData.read(request.privateData(), Handshake.LENGTH);
    if (Handshake.decode(request.privateData()) == null || data == null || at == null) {
      // Of another protocol: it makes no channel and no line in a log.
      request.identifier().close();
      return;
    }
    if (waiting.incrementAndGet() > config.getBacklog()) {
      waiting.decrementAndGet();
      request.identifier().close();
      return;
    }
    RejectReason full =
        slots.take(
            request.identifier().remoteAddress(),
            config.maxConnections(),
            config.maxConnectionsPerPeer());
    if (full != null) {
      waiting.decrementAndGet();
      PendingAccept.refuse(request.identifier(), full, at.meter());
      return;
    }
    PendingAccept pending = new PendingAccept(request, slots);
    RdmaAcceptHook hook = config.acceptHook();
    try {
      if (hook == null) {
        requests.add(pending);
        eventLoop().execute(this::readRequests);
      } else {
        eventLoop().execute(() -> ask(hook, data, pending, at));
      }
    } catch (RejectedExecutionException e) {
      if (hook != null || requests.remove(pending)) {
        drop(pending);
      }
    }
  }

  private void ask(RdmaAcceptHook hook, ByteBuffer data, PendingAccept pending, SharedHca at) {
    if (closed) {
      drop(pending);
      return;
    }
    undecided.add(pending);
    int millis = config.getConnectTimeoutMillis();
    ConnectionIdentifier identifier = pending.event().identifier();
    try {
      Future<AcceptDecision> answer =
          requireNonNull(
              hook.decide(new ConnectRequest(identifier.peer(), identifier.remoteAddress(), data)),
              "the hook returned null");
      if (!undecided.contains(pending)) {
        // The hook has closed this channel.
        answer.cancel(false);
        return;
      }
      pending.waitFor(
          answer,
          millis <= 0
              ? null
              : eventLoop()
                  .schedule(
                      () ->
                          hookFailed(
                              pending,
                              new TimeoutException("no answer within " + millis + " ms"),
                              at),
                      millis,
                      TimeUnit.MILLISECONDS));
      answer.addListener(done -> answered(pending, answer, at));
    } catch (Throwable e) {
      hookFailed(pending, e, at);
    }
  }

  /** On any thread. */
  private void answered(PendingAccept pending, Future<AcceptDecision> answer, SharedHca at) {
    if (eventLoop().inEventLoop()) {
      decided(pending, answer, at);
      return;
    }
    try {
      eventLoop().execute(() -> decided(pending, answer, at));
    } catch (RejectedExecutionException e) {
      // The loop has ended, and this channel dropped the request before.
      return;
    }
  }

  private void decided(PendingAccept pending, Future<AcceptDecision> answer, SharedHca at) {
    AcceptDecision decision = answer.isSuccess() ? answer.getNow() : null;
    if (decision == null) {
      Throwable cause = answer.cause();
      hookFailed(
          pending, cause == null ? new NullPointerException("the hook answered null") : cause, at);
    } else if (undecided.remove(pending)) {
      pending.stopWaiting();
      RejectReason reason = decision.rejection();
      if (reason == null) {
        requests.add(pending);
        readRequests();
      } else {
        waiting.decrementAndGet();
        pending.refuse(reason, at.meter());
      }
    }
  }

  private void hookFailed(PendingAccept pending, Throwable why, SharedHca at) {
    if (undecided.remove(pending)) {
      pending.stopWaiting();
      waiting.decrementAndGet();
      pending.refuse(
          new RejectReason(RejectReason.HOOK_FAILED, "the server's accept hook failed"),
          at.meter());
      pipeline()
          .fireExceptionCaught(
              new RdmaConnectException(
                  "accept",
                  pending.event().identifier().peer(),
                  "the accept hook failed: " + why,
                  why));
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
    SharedHca at = hca;
    if (!readPending || requests.isEmpty() || at == null) {
      return;
    }
    RecvByteBufAllocator.Handle handle = unsafe().recvBufAllocHandle();
    handle.reset(config);
    ChannelPipeline pipeline = pipeline();
    do {
      PendingAccept request = requests.poll();
      if (request == null) {
        break;
      }
      waiting.decrementAndGet();
      readPending = false;
      handle.incMessagesRead(1);
      pipeline.fireChannelRead(child(at, request));
    } while (handle.continueReading());
    handle.readComplete();
    pipeline.fireChannelReadComplete();
    if (readPending && !requests.isEmpty()) {
      eventLoop().execute(this::readRequests);
    }
  }

  private RdmaSocketChannel child(SharedHca at, PendingAccept pending) {
    ConnectionEvent request = pending.event();
    InetSocketAddress client = client(at.remote(request.identifier()), request);
    RdmaSocketChannel child = new RdmaSocketChannel(this, client, request);
    child
        .closeFuture()
        .addListener(
            closed -> {
              clients.remove(client);
              pending.releaseSlot();
            });
    at.dispatcher().register(request.identifier(), (EventTarget) child.unsafe());
    return child;
  }

  /**
   * Returns the address of a client: with the port that it says it has bound, unless that is
   * another client's, with that of the fabric, or with one that nobody has.
   */
  private InetSocketAddress client(InetSocketAddress from, ConnectionEvent request) {
    Handshake handshake = Handshake.decode(request.privateData());
    int said = handshake == null ? 0 : handshake.port();
    if (said != 0) {
      InetSocketAddress bound = new InetSocketAddress(from.getAddress(), said);
      if (clients.add(bound)) {
        return bound;
      }
    }
    InetSocketAddress chosen = from;
    while (chosen.getPort() == 0 || !clients.add(chosen)) {
      chosen = new InetSocketAddress(from.getAddress(), LocalPorts.next());
    }
    return chosen;
  }

  private void dropRequests() {
    for (PendingAccept request = requests.poll(); request != null; request = requests.poll()) {
      drop(request);
    }
  }

  private void drop(PendingAccept request) {
    waiting.decrementAndGet();
    request.drop();
  }

  private void dropUndecided() {
    for (PendingAccept each : List.copyOf(undecided)) {
      undecided.remove(each);
      drop(each);
      each.stopWaiting();
    }
  }

  @Override
  protected void doClose() {
    closed = true;
    ConnectionListener listening = listener;
    SharedHca at = hca;
    if (listening != null && at != null) {
      listener = null;
      at.dispatcher().close(listening);
      dropUndecided();
      dropRequests();
      at.release();
    }
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
