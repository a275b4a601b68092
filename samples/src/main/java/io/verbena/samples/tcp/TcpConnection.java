// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.tcp;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Messages both ways over a socket, as {@code io.verbena.RdmaConnection} has them over a queue
 * pair. Demand becomes reads: without demand the socket is not read, TCP's own window fills, and
 * the sender's channel stops being writable.
 *
 * <p>Its methods may be called from any thread; all signals come from the channel's event loop.
 */
public final class TcpConnection extends ChannelInboundHandlerAdapter {
  private final String peer;

  /** Messages read beyond the demand: at most those of one read of the socket. */
  private final ArrayDeque<ByteBuf> inbound = new ArrayDeque<>();

  private final Set<TcpSend> sends = new LinkedHashSet<>();

  private @Nullable ChannelHandlerContext context;
  private @Nullable TcpReceive receiver;
  private @Nullable Throwable failure;
  private boolean closed;
  private boolean delivering;

  TcpConnection(String peer) {
    this.peer = peer;
  }

  /** Human-readable peer address, for logs. */
  public String peer() {
    return peer;
  }

  /**
   * Sends messages in their order. Takes ownership of each buffer and releases it once.
   *
   * @param messages must emit on the requesting thread, which is the event loop
   * @return completes when the socket has taken all of them
   */
  public Mono<Void> send(Publisher<? extends ByteBuf> messages) {
    return Mono.create(
        sink ->
            onLoop(
                () -> {
                  TcpSend send = new TcpSend(this, channel(), sink);
                  sink.onDispose(() -> onLoop(send::stop));
                  if (closed) {
                    send.fail(closeCause());
                  } else {
                    sends.add(send);
                    messages.subscribe(send);
                  }
                }));
  }

  /**
   * Returns the peer's messages, for one subscriber at a time, which releases them. Cancelling
   * keeps undelivered messages for the next subscriber.
   */
  public Flux<ByteBuf> receive() {
    return Flux.from(
        subscriber -> onLoop(() -> subscribe((CoreSubscriber<? super ByteBuf>) subscriber)));
  }

  /** Closes the socket. */
  public Mono<Void> close() {
    return Mono.create(sink -> channel().close().addListener(done -> sink.success()));
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) {
    context = added;
  }

  @Override
  public void channelRead(ChannelHandlerContext ignored, Object message) {
    inbound.add((ByteBuf) message);
    deliver();
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ignored) {
    readIfWanted();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ignored) {
    for (TcpSend send : sends.toArray(TcpSend[]::new)) {
      send.requestIfWritable();
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>Messages that were read before the error are still delivered; nothing is read after it.
   */
  @Override
  public void exceptionCaught(ChannelHandlerContext ignored, Throwable cause) {
    failure = cause;
    deliver();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ignored) {
    closed = true;
    for (TcpSend send : sends.toArray(TcpSend[]::new)) {
      send.fail(closeCause());
    }
    deliver();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ignored) {
    for (ByteBuf message = inbound.poll(); message != null; message = inbound.poll()) {
      message.release();
    }
  }

  Channel channel() {
    return requireNonNull(context, "connected").channel();
  }

  void onLoop(Runnable task) {
    if (channel().eventLoop().inEventLoop()) {
      task.run();
    } else {
      channel().eventLoop().execute(task);
    }
  }

  void ended(TcpSend send) {
    sends.remove(send);
  }

  void cancelled(TcpReceive receive) {
    if (receiver == receive) {
      receiver = null;
    }
  }

  /** Delivers messages while there is demand; the subscriber may change between two messages. */
  void deliver() {
    if (delivering) {
      return;
    }
    delivering = true;
    while (receiver != null && receiver.demand() > 0 && !inbound.isEmpty()) {
      receiver.next(inbound.remove());
    }
    delivering = false;
    if (receiver != null && inbound.isEmpty() && (closed || failure != null)) {
      TcpReceive last = receiver;
      receiver = null;
      last.end(failure);
    }
    readIfWanted();
  }

  private void readIfWanted() {
    if (receiver != null && receiver.demand() > inbound.size() && failure == null && !closed) {
      requireNonNull(context, "connected").read();
    }
  }

  private void subscribe(CoreSubscriber<? super ByteBuf> subscriber) {
    TcpReceive receive = new TcpReceive(this, subscriber);
    boolean taken = receiver != null;
    if (!taken) {
      receiver = receive;
    }
    subscriber.onSubscribe(receive);
    if (taken) {
      receive.end(new IllegalStateException("receive() has a subscriber (expected: none)"));
    } else {
      deliver();
    }
  }

  private Throwable closeCause() {
    return failure == null ? Exceptions.propagate(new ClosedChannelException()) : failure;
  }
}
