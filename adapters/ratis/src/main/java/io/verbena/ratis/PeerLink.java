// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaTransport;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.protocol.exceptions.ResourceUnavailableException;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.TimeDuration;
import org.apache.ratis.util.TimeoutExecutor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;

/**
 * One connection to a peer, from the connect to its end. It sends calls and receives their replies.
 * Requests that are made before the connection is established wait for it, in order. Thread-safe.
 */
final class PeerLink {
  private static final Logger LOG = LoggerFactory.getLogger(PeerLink.class);

  /** The time between two checks of deadlines. */
  private static final TimeDuration TICK = TimeDuration.valueOf(50, TimeUnit.MILLISECONDS);

  private final String name;
  private final OrderedStreams streams = new OrderedStreams();
  private final CallsInFlight calls;
  private final OutboundMessages queue = new OutboundMessages(() -> {});
  private final AtomicBoolean over = new AtomicBoolean();
  private volatile @Nullable RdmaConnection connection;
  private volatile @Nullable Disposable attempt;

  private PeerLink(String name, int mostCalls) {
    this.name = name;
    calls = new CallsInFlight(name, mostCalls, streams);
  }

  /**
   * Begins to connect.
   *
   * @param name names the caller and the peer, for messages
   * @param mostCalls the most calls in flight
   */
  static PeerLink open(RdmaTransport transport, URI address, String name, int mostCalls) {
    PeerLink link = new PeerLink(name, mostCalls);
    link.attempt =
        transport
            .connect(address, CallLayout.hello())
            .subscribeWith(
                // Reactor's own subscribers drop a connection that arrives while they are
                // cancelled.
                new BaseSubscriber<RdmaConnection>() {
                  @Override
                  protected void hookOnNext(RdmaConnection to) {
                    link.connected(to);
                  }

                  @Override
                  protected void hookOnError(Throwable error) {
                    link.connectFailed(address, error);
                  }
                });
    if (link.isOver()) {
      link.giveUp();
    }
    link.tick();
    return link;
  }

  private void connected(RdmaConnection to) {
    connection = to;
    if (isOver()) {
      to.dispose();
      return;
    }
    to.onClose().subscribe(null, this::lost, () -> lost(null));
    // onClose() reports the connection's end; a send that fails before it has met a limit.
    to.send(queue).subscribe(null, this::sendFailed);
    to.receive().subscribe(new Replies());
  }

  private void connectFailed(URI address, Throwable error) {
    end(because(new ConnectException(name + ": cannot connect to " + address), error));
  }

  private void sendFailed(Throwable error) {
    if (end(lost(String.valueOf(error.getMessage()), error))) {
      LOG.info("{}: a send failed: {}", name, error.getMessage());
    }
  }

  private void lost(@Nullable Throwable error) {
    end(lost(error == null ? "the peer closed it" : String.valueOf(error.getMessage()), error));
  }

  /** Returns an exception after which Ratis tries again, on another connection. */
  private SocketException lost(String reason, @Nullable Throwable error) {
    return because(new SocketException(name + ": the connection ended: " + reason), error);
  }

  private static <E extends IOException> E because(E why, @Nullable Throwable cause) {
    if (cause != null) {
      why.initCause(cause);
    }
    return why;
  }

  private void tick() {
    TimeoutExecutor.getInstance()
        .onTimeout(
            TICK,
            () -> {
              try {
                calls.expire();
                // Otherwise messages of ended calls would pile up if the peer takes nothing.
                queue.removeIf(message -> !isWanted(message));
              } finally {
                if (!isOver()) {
                  tick();
                }
              }
            },
            LOG,
            () -> name + ": failed to check deadlines");
  }

  private boolean isWanted(ByteBuf request) {
    boolean isOfFailedStream =
        CallLayout.operation(request) == Operation.ORDERED.code()
            && streams.hasFailed(CallLayout.stream(request));
    return !isOfFailedStream && calls.isInFlight(CallLayout.call(request));
  }

  /** Returns whether the connection has ended, or never will be. */
  boolean isOver() {
    return over.get();
  }

  /**
   * Sends an ordered request like {@link #call}; fails it if it does not follow the one before it.
   */
  void callInOrder(Call call, RaftClientRequestProto request) {
    if (!streams.send(request.getRpcRequest(), stream -> call(call.in(stream), request))) {
      // Ratis sends the request again, to the same server, when it has the reply of the one before.
      call.fail(new ResourceUnavailableException(name + ": a request before this one has failed"));
    }
  }

  /**
   * Sends a request. The call ends with the reply, or fails at its deadline or with the connection.
   *
   * @return whether the request was sent; if not, the call has failed
   */
  boolean call(Call call, MessageLite request) {
    long number;
    try {
      number = calls.add(call);
    } catch (IOException e) {
      call.fail(e);
      return false;
    }
    try {
      ByteBuf message =
          CallLayout.message(
              allocator(),
              CallLayout.REQUEST,
              call.operation().code(),
              call.stream(),
              number,
              request);
      return queue.offer(message);
    } catch (MemoryLimitException e) {
      calls.fail(number, new ResourceUnavailableException(name + ": " + e.getMessage()));
    } catch (IOException e) {
      calls.fail(number, e);
    } catch (RuntimeException e) {
      // If the HCA registers no memory, or the transport is closed, for example.
      calls.fail(number, because(new SocketException(name + ": cannot send: " + e), e));
    }
    return false;
  }

  /**
   * Returns the allocator of registered memory; before there is a connection, another one, whose
   * bytes are copied when they are sent.
   */
  private ByteBufAllocator allocator() {
    RdmaConnection to = connection;
    return to == null ? PooledByteBufAllocator.DEFAULT : to.memory().allocator();
  }

  /** Disconnects; calls in flight fail. Idempotent. */
  void close() {
    end(lost("this end closed it", null));
  }

  private boolean end(IOException why) {
    if (!over.compareAndSet(false, true)) {
      return false;
    }
    giveUp();
    queue.close();
    calls.close(why);
    return true;
  }

  private void giveUp() {
    Disposable connecting = attempt;
    if (connecting != null) {
      connecting.dispose();
    }
    RdmaConnection to = connection;
    if (to != null) {
      to.dispose();
    }
  }

  /**
   * Receives the replies, on the completion loop. There are at most as many replies as calls in
   * flight, whose number is limited.
   */
  private final class Replies extends BaseSubscriber<ByteBuf> {
    @Override
    protected void hookOnNext(ByteBuf message) {
      try {
        calls.ended(message);
      } catch (RuntimeException e) {
        end(lost("a reply cannot be read: " + e, e));
      } finally {
        message.release();
      }
    }

    @Override
    protected void hookOnComplete() {
      lost(null);
    }

    @Override
    protected void hookOnError(Throwable error) {
      lost(error);
    }
  }
}
