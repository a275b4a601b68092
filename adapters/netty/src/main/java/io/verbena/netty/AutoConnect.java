// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;
import io.verbena.RdmaConnectException;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One connect of an {@link AutoSocketChannel}, which ends once. The medium that is remembered for
 * the peer decides what it tries:
 *
 * <pre>{@code
 * remembered medium
 * none:      RDMA, while other connects to the peer wait --fails--> TCP --fails--> over
 * RDMA:      RDMA --fails--> TCP --fails--> over
 * TCP:       TCP --fails, and is forgotten--> as with none, but without TCP
 * another connect is finding out: waits, then as with its result; without RDMA if that failed
 * }</pre>
 *
 * <p>The first success ends the connect, and so does a rejection of this client by the server.
 * {@code CONNECT_TIMEOUT_MILLIS} limits the whole connect, {@link
 * RdmaChannelOption#RDMA_TIMEOUT_MILLIS} its attempt over RDMA. On the event loop's thread only.
 */
final class AutoConnect {
  private static final Logger LOG = System.getLogger("io.verbena.connection");

  private final AutoSocketChannel channel;
  private final AutoSocketChannelConfig config;
  private final EventLoop loop;
  private final @Nullable SharedHca hca;
  private final SocketAddress to;
  private final @Nullable SocketAddress from;
  private final ChannelPromise promise;
  private final @Nullable Future<?> timer;
  private @Nullable Channel trying;
  private @Nullable Throwable failure;

  /** The question that this connect answers for others to the same peer; null if there is none. */
  private PeerMedia.@Nullable Question asks;

  private boolean rdmaIsOut;
  private boolean tcpIsOut;
  private boolean over;

  /**
   * Begins a connect.
   *
   * @param hca the loop's HCA; null if the loop drives only sockets
   * @param from the local address; null for any
   */
  AutoConnect(
      AutoSocketChannel channel,
      @Nullable SharedHca hca,
      SocketAddress to,
      @Nullable SocketAddress from,
      ChannelPromise promise) {
    this.channel = channel;
    this.hca = hca;
    this.to = to;
    this.from = from;
    this.promise = promise;
    config = channel.options();
    loop = channel.eventLoop();
    int millis = config.getConnectTimeoutMillis();
    timer =
        millis > 0
            ? loop.schedule(
                () ->
                    end(
                        new ConnectTimeoutException(
                            "connection timed out after " + millis + " ms: " + to)),
                millis,
                TimeUnit.MILLISECONDS)
            : null;
    rdmaIsOut = hca == null || !(to instanceof InetSocketAddress);
  }

  /** Tries the next medium; ends the connect if none is left. */
  void next() {
    if (rdmaIsOut || hca == null || !(to instanceof InetSocketAddress peer)) {
      tryTcp();
      return;
    }
    PeerMedia.Question leads =
        hca.peers().ask(peer, this, config.memoryNanos(), config.patienceNanos());
    if (leads.isOf(this)) {
      asks = leads;
      tryRdma(hca);
    } else if (!leads.isDone()) {
      var unused = leads.thenAccept(this::answeredElsewhere);
    } else if (Boolean.TRUE.equals(leads.join())) {
      tryRdma(hca);
    } else {
      tryTcp();
    }
  }

  /** Handles the answer of another connect; called on that connect's thread. */
  private void answeredElsewhere(@Nullable Boolean leads) {
    try {
      loop.execute(() -> answered(leads));
    } catch (RejectedExecutionException e) {
      // The loop has ended, and has closed its channels.
      return;
    }
  }

  private void answered(@Nullable Boolean leads) {
    if (over) {
      return;
    }
    if (Boolean.TRUE.equals(leads) && hca != null) {
      tryRdma(hca);
    } else {
      rdmaIsOut = leads != null;
      next();
    }
  }

  private void tryRdma(SharedHca on) {
    rdmaIsOut = true;
    begin(on.scheme(), () -> new RdmaSocketChannel(config));
  }

  private void tryTcp() {
    if (tcpIsOut) {
      end(failure == null ? new ClosedChannelException() : failure);
      return;
    }
    tcpIsOut = true;
    begin(AutoSocketChannel.TCP, channel::newSocket);
  }

  private void begin(String medium, Supplier<? extends SocketChannel> factory) {
    SocketChannel made;
    try {
      made = factory.get();
    } catch (ChannelException e) {
      // There is no socket, because file descriptors are used up for example.
      failed(medium, new IOException(e.getMessage(), e));
      return;
    } catch (RuntimeException | Error e) {
      // Thrown by the program's own factory.
      failed(medium, e);
      return;
    }
    trying = made;
    made.pipeline()
        .addLast(
            new Bridge(channel) {
              @Override
              public void channelActive(ChannelHandlerContext context) {
                connected(medium, made);
              }
            });
    made.closeFuture().addListener(closed -> failedOf(made, medium, new ClosedChannelException()));
    loop.register(made)
        .addListener(
            registered -> {
              if (registered.isSuccess()) {
                connect(made, medium);
              } else {
                failedOf(made, medium, new IOException("not registered", registered.cause()));
              }
            });
  }

  private void connect(SocketChannel made, String medium) {
    if (trying != made) {
      return;
    }
    made.unsafe()
        .connect(
            to,
            from,
            made.newPromise()
                .addListener(
                    done -> {
                      if (!done.isSuccess()) {
                        failedOf(made, medium, done.cause());
                      }
                    }));
  }

  private void connected(String medium, SocketChannel made) {
    if (trying != made) {
      return;
    }
    trying = null;
    // Before the question ends, so that no other connect asks it again.
    remember(medium);
    over(!isTcp(medium));
    if (hca != null) {
      hca.meter().mediumChosen(medium);
    }
    channel.connected(made, medium, promise);
  }

  private void remember(String medium) {
    if (hca != null
        && to instanceof InetSocketAddress peer
        && hca.peers().remember(peer, !isTcp(medium), config.memoryNanos())) {
      LOG.log(
          Level.INFO,
          () -> peer + ": connected over " + medium + (failure == null ? "" : ", as " + failure));
    }
  }

  private static boolean isTcp(String medium) {
    return medium.equals(AutoSocketChannel.TCP);
  }

  private void failedOf(SocketChannel made, String medium, Throwable cause) {
    if (trying == made) {
      trying = null;
      close(made);
      failed(medium, cause);
    }
  }

  private void failed(String medium, Throwable cause) {
    Throwable before = failure;
    if (before != null && before != cause) {
      cause.addSuppressed(before);
    }
    failure = cause;
    if (isAnswer(cause) || !(cause instanceof IOException)) {
      end(cause);
      return;
    }
    if (hca != null && to instanceof InetSocketAddress peer) {
      if (isTcp(medium)) {
        hca.peers().forgetTcp(peer);
      } else if (asks != null) {
        asks.complete(false);
      }
    }
    next();
  }

  /** Returns whether the server was reached and has rejected this client, so that TCP is no use. */
  private static boolean isAnswer(Throwable cause) {
    return cause.getCause() instanceof RdmaConnectException refused && refused.rejection() != null;
  }

  /** Ends the connect without a connection. Idempotent. */
  void end(Throwable cause) {
    if (over) {
      return;
    }
    over(isAnswer(cause) ? Boolean.TRUE : null);
    Channel at = trying;
    trying = null;
    if (at != null) {
      close(at);
    }
    channel.failed(cause, promise);
  }

  private static void close(Channel at) {
    at.unsafe().close(at.voidPromise());
  }

  private void over(@Nullable Boolean leads) {
    over = true;
    Future<?> running = timer;
    if (running != null) {
      running.cancel(false);
    }
    PeerMedia.Question question = asks;
    if (question != null && hca != null && to instanceof InetSocketAddress peer) {
      hca.peers().end(peer, question, leads);
    }
  }
}
