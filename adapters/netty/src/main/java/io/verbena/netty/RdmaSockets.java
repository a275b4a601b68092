// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.NettyRuntime;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.netty.util.concurrent.Future;
import io.verbena.RdmaOptions;
import io.verbena.RdmaTimeoutException;
import io.verbena.verbs.VerbsException;
import java.net.InetAddress;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The event loops, channels and host name lookups with which a program on Netty, or on a framework
 * above Netty, uses an HCA instead of sockets. One instance serves all servers and clients of a
 * program, which then share the HCA and its registered memory.
 *
 * <pre>{@code
 * RdmaSockets sockets = RdmaSockets.create(URI.create("roce://10.0.0.7"));
 * sockets.on(new ServerBootstrap()).childHandler(handler).bind("storage-1", 7000);
 * sockets.on(new Bootstrap()).handler(handler).connect("storage-2", 7000);
 * ...
 * sockets.close();
 * }</pre>
 *
 * <p>{@code RdmaGrpc} sets it on gRPC's builders; {@code RdmaLoopResources} adapts it for Reactor
 * Netty and RSocket.
 *
 * <p>With {@link Builder#orTcp} clients reach peers without RDMA over TCP, and servers listen for
 * both; see {@link AutoSocketChannel} and {@link AutoServerSocketChannel}. On a host without the
 * HCA all connections use TCP. {@link Builder#sockets} selects epoll or io_uring for those sockets.
 *
 * <p>Immutable and thread-safe. The program closes it after its servers and clients; channels that
 * are still open then are closed with it.
 */
public final class RdmaSockets implements AutoCloseable {
  /**
   * The quiet period of {@link #close}. Without one Netty ends a loop that is running a task when
   * it is shut down before the loop has closed its sockets.
   */
  private static final Duration QUIET = Duration.ofMillis(100);

  /** The limit on the loops' quiet period, for channels that stay busy. */
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  /** The time for the device to close once its loops have ended, and for the threads to end. */
  private static final Duration DEVICE_TIMEOUT = Duration.ofSeconds(20);

  private final Builder settings;
  private final SocketFactory sockets;
  private final NamesOffLoop names;
  private final EventLoopGroup group;

  private RdmaSockets(
      Builder settings, SocketFactory sockets, NamesOffLoop names, EventLoopGroup group) {
    this.settings = settings;
    this.sockets = sockets;
    this.names = names;
    this.group = group;
  }

  /**
   * Opens an HCA, with one event loop for each processor and without TCP.
   *
   * @param hca the URI of the HCA, as for {@link RdmaIoHandler#newFactory(URI)}
   * @throws VerbsException if there is no such HCA
   */
  public static RdmaSockets create(URI hca) {
    return builder(hca).build();
  }

  /**
   * Returns a builder with the defaults of {@link #create}.
   *
   * @param hca the URI of the HCA, as for {@link RdmaIoHandler#newFactory(URI)}
   */
  public static Builder builder(URI hca) {
    return new Builder(requireNonNull(hca, "hca"));
  }

  /**
   * Sets the event loops, the channel factory and the resolver of a client, and nothing else. The
   * resolver looks host names up through the JDK, on other threads than the loops'.
   *
   * @return {@code client}
   */
  public Bootstrap on(Bootstrap client) {
    return client.group(group).channelFactory(this::newChannel).resolver(names);
  }

  /**
   * Sets the event loops and the channel factory of a server, and nothing else. Each loop both
   * listens and serves.
   *
   * @return {@code server}
   */
  public ServerBootstrap on(ServerBootstrap server) {
    return server.group(group).channelFactory(this::newServerChannel);
  }

  /**
   * Returns the event loops. They also take channels of NIO, or of the kind set by {@link
   * Builder#sockets} instead. {@link #close} shuts them down.
   */
  public EventLoopGroup group() {
    return group;
  }

  /**
   * Creates a client channel, for a loop of {@link #group}.
   *
   * @throws RejectedExecutionException if these sockets are closed
   */
  public SocketChannel newChannel() {
    checkOpen();
    if (!settings.orTcp) {
      return new RdmaSocketChannel();
    }
    AutoSocketChannel channel = new AutoSocketChannel();
    channel.config().setOption(RdmaChannelOption.RDMA_TIMEOUT_MILLIS, settings.patienceMillis);
    return channel;
  }

  /**
   * Creates a server channel, for a loop of {@link #group}.
   *
   * @throws RejectedExecutionException if these sockets are closed
   */
  public ServerSocketChannel newServerChannel() {
    checkOpen();
    return settings.orTcp ? new AutoServerSocketChannel() : new RdmaServerSocketChannel();
  }

  /**
   * Creates a UDP channel, for Netty's DNS client for example. It is of NIO, or of the kind set by
   * {@link Builder#sockets}.
   *
   * @throws RejectedExecutionException if these sockets are closed
   */
  public DatagramChannel newDatagramChannel() {
    checkOpen();
    return sockets.datagrams().newChannel();
  }

  /**
   * Returns the class of the channels of {@link #newChannel}, for frameworks that take no factory.
   */
  public Class<? extends SocketChannel> channelType() {
    return settings.orTcp ? AutoSocketChannel.class : RdmaSocketChannel.class;
  }

  /**
   * Returns the class of the channels of {@link #newServerChannel}, for frameworks that take no
   * factory.
   */
  public Class<? extends ServerSocketChannel> serverChannelType() {
    return settings.orTcp ? AutoServerSocketChannel.class : RdmaServerSocketChannel.class;
  }

  private void checkOpen() {
    if (isClosed()) {
      throw new RejectedExecutionException(this + ": closed");
    }
  }

  /** Returns whether the loops are shut down or shutting down. */
  public boolean isClosed() {
    return group.isShuttingDown();
  }

  /** Returns whether a thread is an event loop of an {@code RdmaSockets}, and so must not block. */
  public static boolean isLoop(Thread thread) {
    return thread instanceof LoopThread;
  }

  /**
   * Closes all channels, then the loops, and then the HCA, if no others use it. Idempotent: the
   * first call counts.
   *
   * @param quietPeriod how long a loop must be without tasks before it ends
   * @param timeout how long a loop waits for its quiet period at most
   * @return a future that succeeds once all is closed
   */
  public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
    return group.shutdownGracefully(quietPeriod, timeout, unit);
  }

  /**
   * Calls {@link #shutdownGracefully} with a quiet period of 100 ms and a timeout of 10 s, and
   * waits until all is closed. On an event loop it does not wait.
   *
   * @throws RdmaTimeoutException if all is not closed within 30 s and {@link
   *     RdmaOptions#closeTimeout}, because a handler blocks a loop, for example
   */
  @Override
  public void close() {
    closeWithin(TIMEOUT.plus(settings.options.closeTimeout()).plus(DEVICE_TIMEOUT));
  }

  /** Closes it, and waits at most {@code limit}. */
  void closeWithin(Duration limit) {
    Future<?> end = shutdownGracefully(QUIET.toMillis(), TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    if (isLoop(Thread.currentThread())) {
      return;
    }
    if (!end.awaitUninterruptibly(limit.toMillis())) {
      throw new RdmaTimeoutException(
          "close", settings.hca.toString(), "loops are still running after " + limit);
    }
  }

  /** Returns the URI of the HCA, whether TCP may take its place, and the kind of sockets. */
  @Override
  public String toString() {
    return "RdmaSockets["
        + settings.hca
        + (settings.orTcp ? ", or TCP" : "")
        + (settings.kind == SocketKind.NIO ? "" : ", sockets: " + settings.kind)
        + "]";
  }

  /**
   * Returns the socket factory of a loop: of the loop's kind, or of NIO for a program's own loop.
   */
  static SocketFactory socketsFor(EventLoop loop) {
    return loop instanceof Loop ours ? ours.sockets : SocketFactory.NIO;
  }

  private static final class Loops extends MultiThreadIoEventLoopGroup {
    Loops(int count, IoHandlerFactory handlers, SocketFactory sockets, NamesOffLoop names) {
      super(count, new LoopThreads(), handlers, sockets, names);
    }

    @Override
    protected IoEventLoop newChild(Executor executor, IoHandlerFactory handlers, Object... args) {
      return new Loop(this, executor, handlers, (SocketFactory) args[0], (NamesOffLoop) args[1]);
    }
  }

  /**
   * A loop that fails its pending name lookups before it ends, so that their connects can report
   * it.
   */
  private static final class Loop extends SingleThreadIoEventLoop {
    private final SocketFactory sockets;
    private final NamesOffLoop names;

    Loop(
        IoEventLoopGroup group,
        Executor executor,
        IoHandlerFactory handlers,
        SocketFactory sockets,
        NamesOffLoop names) {
      super(group, executor, handlers);
      this.sockets = sockets;
      this.names = names;
    }

    @Override
    public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
      names.close(this);
      return super.shutdownGracefully(quietPeriod, timeout, unit);
    }
  }

  /** Creates the daemon threads of loops, which {@link RdmaSockets#isLoop} recognizes. */
  private static final class LoopThreads extends DefaultThreadFactory {
    LoopThreads() {
      super("rdma", true);
    }

    @Override
    protected Thread newThread(Runnable loop, String name) {
      return new LoopThread(threadGroup, loop, name);
    }
  }

  private static final class LoopThread extends FastThreadLocalThread {
    LoopThread(ThreadGroup group, Runnable loop, String name) {
      super(group, loop, name);
    }
  }

  /** The settings of {@link RdmaSockets}. Immutable: each setter returns a new builder. */
  public static final class Builder {
    private static final Duration LEAST_PATIENCE = Duration.ofMillis(1);
    private static final Duration MOST_PATIENCE = Duration.ofMillis(Integer.MAX_VALUE);

    private final URI hca;
    private final RdmaOptions options;
    private final int loops;
    private final boolean orTcp;
    private final int patienceMillis;
    private final SocketKind kind;
    private final NamesOffLoop.Lookup lookup;

    private Builder(URI hca) {
      this(
          hca,
          RdmaIoHandler.DEFAULTS,
          NettyRuntime.availableProcessors(),
          false,
          AutoSocketChannelConfig.RDMA_TIMEOUT,
          SocketKind.NIO,
          InetAddress::getAllByName);
    }

    private Builder(
        URI hca,
        RdmaOptions options,
        int loops,
        boolean orTcp,
        int patienceMillis,
        SocketKind kind,
        NamesOffLoop.Lookup lookup) {
      this.hca = hca;
      this.options = options;
      this.loops = loops;
      this.orTcp = orTcp;
      this.patienceMillis = patienceMillis;
      this.kind = kind;
      this.lookup = lookup;
    }

    /**
     * Sets the options of the HCA and its channels.
     *
     * @param value the options, as for {@link RdmaIoHandler#newFactory(URI, RdmaOptions)}
     */
    public Builder options(RdmaOptions value) {
      return new Builder(
          hca, requireNonNull(value, "options"), loops, orTcp, patienceMillis, kind, lookup);
    }

    /**
     * Sets the number of event loops, which run on daemon threads.
     *
     * @param value at least 1; one for each processor by default
     */
    public Builder loops(int value) {
      if (value < 1) {
        throw new IllegalArgumentException("loops: " + value + " (expected: >= 1)");
      }
      return new Builder(hca, options, value, orTcp, patienceMillis, kind, lookup);
    }

    /** Uses TCP if the peer or this host has no RDMA. A connect tries RDMA for 500 ms first. */
    public Builder orTcp() {
      return new Builder(hca, options, loops, true, patienceMillis, kind, lookup);
    }

    /**
     * Like {@link #orTcp()}, with another limit on the attempt over RDMA. The medium that a connect
     * has found is remembered for a minute; with too short a limit, connects of a busy start time
     * out over RDMA and use TCP for that minute.
     *
     * @param patience at least 1 ms; at most half of a client's connect timeout is used
     */
    public Builder orTcp(Duration patience) {
      requireNonNull(patience, "patience");
      if (patience.compareTo(LEAST_PATIENCE) < 0 || patience.compareTo(MOST_PATIENCE) > 0) {
        throw new IllegalArgumentException(
            "patience: " + patience + " (expected: 1 to " + Integer.MAX_VALUE + " ms)");
      }
      return new Builder(hca, options, loops, true, (int) patience.toMillis(), kind, lookup);
    }

    /**
     * Sets the kind of sockets that the loops drive beside their HCA, for {@link #orTcp} and {@link
     * #newDatagramChannel}. A program may also register its own channels of this kind with the
     * loops, but of no other kind.
     *
     * @param value NIO by default; {@link #build} fails if it is not available
     */
    public Builder sockets(SocketKind value) {
      requireNonNull(value, "sockets");
      return new Builder(hca, options, loops, orTcp, patienceMillis, value, lookup);
    }

    /** Sets the lookup of host names. */
    Builder lookup(NamesOffLoop.Lookup value) {
      return new Builder(hca, options, loops, orTcp, patienceMillis, kind, value);
    }

    /**
     * Opens the HCA, and creates its loops.
     *
     * @throws SocketsUnavailableException if the kind of {@link #sockets} is not available
     * @throws VerbsException if there is no such HCA and TCP may not take its place, or if the HCA
     *     cannot be used
     */
    public RdmaSockets build() {
      SocketFactory sockets = kind.factory();
      IoHandlerFactory handlers = handlers(sockets.handlers());
      NamesOffLoop names = new NamesOffLoop(lookup);
      try {
        return new RdmaSockets(this, sockets, names, new Loops(loops, handlers, sockets, names));
      } catch (IllegalStateException e) {
        if (e.getCause() instanceof VerbsException cause) {
          // Netty's own message is only "failed to create a child event loop".
          throw cause;
        }
        throw e;
      }
    }

    private IoHandlerFactory handlers(@Nullable IoHandlerFactory sockets) {
      if (sockets == null) {
        return orTcp
            ? AutoIoHandler.newFactory(hca, options)
            : RdmaIoHandler.newFactory(hca, options);
      }
      return orTcp
          ? AutoIoHandler.newFactory(hca, options, sockets)
          : RdmaIoHandler.newFactory(hca, options, sockets);
    }
  }
}
