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
 * All that a program on Netty, or on a framework above it, needs to use an HCA in place of its
 * sockets: event loops, channels on them, and lookups of host names. One for all servers and
 * clients of a program, which share the HCA and its registered memory by it.
 *
 * <pre>{@code
 * RdmaSockets sockets = RdmaSockets.create(URI.create("roce://10.0.0.7"));
 * sockets.on(new ServerBootstrap()).childHandler(handler).bind("storage-1", 7000);
 * sockets.on(new Bootstrap()).handler(handler).connect("storage-2", 7000);
 * ...
 * sockets.close();
 * }</pre>
 *
 * <p>gRPC's builders take it by {@code RdmaGrpc}, and Reactor Netty and RSocket by {@code
 * RdmaLoopResources}.
 *
 * <p>With {@link Builder#orTcp} its clients reach peers without RDMA over TCP, and its servers
 * listen for both: {@link AutoSocketChannel} and {@link AutoServerSocketChannel} tell how. On a
 * host without the HCA all is over TCP. {@link Builder#sockets} chooses epoll or io_uring for what
 * goes over sockets.
 *
 * <p>Immutable, and thread-safe. The program closes it behind its servers and clients; what is
 * still open by then is closed with it.
 */
public final class RdmaSockets implements AutoCloseable {
  /**
   * Without a quiet time Netty ends a loop that runs a task as it is asked to end, before the loop
   * has closed its sockets.
   */
  private static final Duration QUIET = Duration.ofMillis(100);

  /** For channels that go on and on beside the loops' end. */
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  /**
   * The time that a device may take to close once its loops have ended, and some for the threads.
   */
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
   * Opens an HCA with one loop for each processor, for RDMA alone.
   *
   * @param hca as {@link RdmaIoHandler#newFactory(URI)} takes it
   * @throws VerbsException if there is no such HCA
   */
  public static RdmaSockets create(URI hca) {
    return builder(hca).build();
  }

  /**
   * Returns a builder that begins with the defaults of {@link #create}.
   *
   * @param hca as {@link RdmaIoHandler#newFactory(URI)} takes it
   */
  public static Builder builder(URI hca) {
    return new Builder(requireNonNull(hca, "hca"));
  }

  /**
   * Sets the loops, the channel and the resolver of a client, whose host names are looked up as the
   * JDK does, on other threads than the loops'. All else of it stays as it is.
   *
   * @return the bootstrap
   */
  public Bootstrap on(Bootstrap client) {
    return client.group(group).channelFactory(this::newChannel).resolver(names);
  }

  /**
   * Sets the loops, of which each both listens and serves, and the channel of a server. All else of
   * it stays as it is.
   *
   * @return the bootstrap
   */
  public ServerBootstrap on(ServerBootstrap server) {
    return server.group(group).channelFactory(this::newServerChannel);
  }

  /**
   * Returns the event loops, which take channels of NIO too, or of the kind that {@link
   * Builder#sockets} chose instead. They end with these sockets.
   */
  public EventLoopGroup group() {
    return group;
  }

  /**
   * Makes the channel of a client, for a loop of {@link #group}.
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
   * Makes the channel of a server, for a loop of {@link #group}.
   *
   * @throws RejectedExecutionException if these sockets are closed
   */
  public ServerSocketChannel newServerChannel() {
    checkOpen();
    return settings.orTcp ? new AutoServerSocketChannel() : new RdmaServerSocketChannel();
  }

  /**
   * Makes a channel of datagrams, which travel over UDP: for Netty's DNS client, say. It is of NIO,
   * or of the kind that {@link Builder#sockets} chose.
   *
   * @throws RejectedExecutionException if these sockets are closed
   */
  public DatagramChannel newDatagramChannel() {
    checkOpen();
    return sockets.datagrams().newChannel();
  }

  /** Returns the class of {@link #newChannel}, for frameworks that take no factory. */
  public Class<? extends SocketChannel> channelType() {
    return settings.orTcp ? AutoSocketChannel.class : RdmaSocketChannel.class;
  }

  /** Returns the class of {@link #newServerChannel}, likewise. */
  public Class<? extends ServerSocketChannel> serverChannelType() {
    return settings.orTcp ? AutoServerSocketChannel.class : RdmaServerSocketChannel.class;
  }

  private void checkOpen() {
    if (isClosed()) {
      throw new RejectedExecutionException(this + ": closed");
    }
  }

  /** Returns whether it is closed, or about to be. */
  public boolean isClosed() {
    return group.isShuttingDown();
  }

  /** Returns whether a thread is a loop of such sockets, and so must not block. */
  public static boolean isLoop(Thread thread) {
    return thread instanceof LoopThread;
  }

  /**
   * Closes all channels, and then the loops and the HCA, if no others use it. Idempotent: the first
   * call counts.
   *
   * @param quietPeriod for how long nothing must happen on a loop before it ends
   * @param timeout how long that may take
   * @return succeeds once all is closed
   */
  public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
    return group.shutdownGracefully(quietPeriod, timeout, unit);
  }

  /**
   * As {@link #shutdownGracefully} with a tenth of a second and ten seconds; waits until all is
   * closed. On an event loop it returns at once, and all closes soon after.
   *
   * @throws RdmaTimeoutException if that takes longer than it may, as a handler holds a loop up
   */
  @Override
  public void close() {
    closeWithin(TIMEOUT.plus(settings.options.closeTimeout()).plus(DEVICE_TIMEOUT));
  }

  /** Closes it, and waits no longer than that. */
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

  /** Returns the address of the HCA, and what stands in for it. */
  @Override
  public String toString() {
    return "RdmaSockets["
        + settings.hca
        + (settings.orTcp ? ", or TCP" : "")
        + (settings.kind == SocketKind.NIO ? "" : ", sockets: " + settings.kind)
        + "]";
  }

  /**
   * Returns what makes sockets for a loop: of its kind, and of NIO for loops of a program's own.
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

  /** A loop that ends after the lookups of its connects, so that they can report their end. */
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

  /** Names its threads, and knows them again. */
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

  /** Settings of {@link RdmaSockets}. Immutable: each method returns another. */
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
     * @param value as {@link RdmaIoHandler#newFactory(URI, RdmaOptions)} takes them
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

    /**
     * Uses TCP where the peer, or this host, has no RDMA. A connect tries RDMA for half a second
     * first.
     */
    public Builder orTcp() {
      return new Builder(hca, options, loops, true, patienceMillis, kind, lookup);
    }

    /**
     * As {@link #orTcp()}, with another time for RDMA. What a connect finds is remembered for a
     * minute, so a time that is short sends the connects of a busy start over TCP until then.
     *
     * @param patience at least a millisecond; at most half of a client's connect timeout counts
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
     * Sets the kind of sockets that the loops drive beside their HCA: those of {@link #orTcp}, and
     * of {@link #newDatagramChannel}. The loops take a program's own channels of this kind too, and
     * of no other.
     *
     * @param value NIO by default; {@link #build} fails if it is not available
     */
    public Builder sockets(SocketKind value) {
      requireNonNull(value, "sockets");
      return new Builder(hca, options, loops, orTcp, patienceMillis, value, lookup);
    }

    /** Sets how names are looked up. */
    Builder lookup(NamesOffLoop.Lookup value) {
      return new Builder(hca, options, loops, orTcp, patienceMillis, kind, value);
    }

    /**
     * Opens the HCA, and starts its loops.
     *
     * @throws SocketsUnavailableException if the kind of {@link #sockets} is not available
     * @throws VerbsException if there is no such HCA and TCP may not take its place, or if it
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
          // Netty's word for it is "failed to create a child event loop".
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
