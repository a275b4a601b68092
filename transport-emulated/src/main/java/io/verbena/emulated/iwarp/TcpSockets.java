// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import static java.nio.channels.SelectionKey.OP_ACCEPT;
import static java.nio.channels.SelectionKey.OP_READ;

import io.verbena.emulated.crypto.CipherWorkspace;
import io.verbena.emulated.driven.DrivenFabric;
import io.verbena.emulated.engine.Timeline;
import io.verbena.emulated.iwarp.SocketSelector.Selected;
import io.verbena.emulated.iwarp.capture.TcpCapture;
import io.verbena.emulated.iwarp.frame.MpaFrame;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The TCP sockets of an HCA. Creates sockets, limits the accepted ones that are half-open, and
 * calls streams when their sockets are ready. For threads that have entered the fabric, unless a
 * method says otherwise.
 */
public final class TcpSockets implements StreamFabric {
  /** The most streams with which each turn reads from every stream, without a select. */
  private static final int FEW = 4;

  /**
   * The time after which a turn selects all the same, for ports and for sockets that take bytes
   * again. A select costs as much as several reads.
   */
  private static final long SELECTING_NANOS = 20_000;

  /**
   * The same time for a turn that has read bytes: the next bytes mostly come on the same socket.
   */
  private static final long READING_NANOS = 200_000;

  private static final int WASTE_BYTES = 16 * 1024;

  /** The time for which a port accepts nothing after a failure. */
  private static final long PAUSE_NANOS = 100_000_000;

  /** The length of the kernel's queue of connections that are not accepted yet. */
  private static final int SOCKET_BACKLOG = 1024;

  private final DrivenFabric fabric;
  private final Timeline time;
  private final SocketSelector selector;
  private final Consumer<SelectionKey> onSelected = this::selected;
  private final List<TcpStream> running = new ArrayList<>();
  private final Set<TcpStream> open = new HashSet<>();
  private final ByteBuffer waste = ByteBuffer.allocateDirect(WASTE_BYTES);
  private final CipherWorkspace workspace = CipherWorkspace.ofRecords();
  private final int mostHalfOpen;
  private final @Nullable TcpCapture capture;

  /** Ports that accept nothing at present. */
  private final List<Port> paused = new ArrayList<>();

  /** The number of passive streams whose request no program has yet. */
  private int halfOpen;

  private boolean closedSome;
  private long lastSelected;
  private boolean came;
  private volatile boolean hasStreams;

  /**
   * Creates an object without sockets.
   *
   * @param mostHalfOpen the most accepted connections whose request has not come or waits for a
   *     program
   * @param capture the capture that all bytes are written to, or null; the caller closes it
   */
  TcpSockets(
      DrivenFabric fabric,
      Timeline time,
      SocketSelector selector,
      int mostHalfOpen,
      @Nullable TcpCapture capture) {
    this.fabric = fabric;
    this.time = time;
    this.selector = selector;
    this.mostHalfOpen = mostHalfOpen;
    this.capture = capture;
  }

  // ---- active end

  /**
   * Starts to connect; the result is reported to {@code user}.
   *
   * @param from the address of this machine to connect from, or null for any
   * @param nanos the time within which the peer must have answered
   * @throws IOException if no connection can be started
   */
  public TcpStream connect(
      @Nullable InetSocketAddress from,
      InetSocketAddress to,
      MpaFrame request,
      long nanos,
      StreamUser user)
      throws IOException {
    SocketChannel channel = SocketChannel.open();
    try {
      if (from != null) {
        channel.bind(from);
      }
      prepare(channel);
      boolean unused = channel.connect(to);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
    NioSocket socket = new NioSocket(channel, fabric::wake);
    TcpStream stream =
        TcpStream.active(
            this, capture == null ? socket : CapturedSocket.active(socket, capture), request, user);
    add(stream, socket, nanos);
    return stream;
  }

  private static void prepare(SocketChannel channel) throws IOException {
    channel.configureBlocking(false);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
  }

  private void add(TcpStream stream, NioSocket socket, long nanos) throws IOException {
    open.add(stream);
    hasStreams = true;
    socket.register(selector, stream);
    stream.begin(nanos);
    fabric.wake();
  }

  // ---- passive end

  /**
   * Listens on an address; also for threads that have not entered the fabric.
   *
   * @throws IOException if the call fails, {@link java.net.BindException} if the port is taken
   */
  public Port listen(InetSocketAddress at, TcpStream.Asked asked) throws IOException {
    ServerSocketChannel channel = ServerSocketChannel.open();
    fabric.enter();
    try {
      channel.configureBlocking(false);
      channel.bind(at, SOCKET_BACKLOG);
      Port port = new Port(channel, asked);
      fabric.wake();
      return port;
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    } finally {
      fabric.leave();
    }
  }

  /** A port that accepts connections. */
  public final class Port implements Selected, AutoCloseable {
    private final ServerSocketChannel channel;
    private final TcpStream.Asked asked;
    private final Timeline.Alarm alarm = time.alarm(this::resume);
    private final SelectionKey key;

    private Port(ServerSocketChannel channel, TcpStream.Asked asked) throws IOException {
      this.channel = channel;
      this.asked = asked;
      key = selector.register(channel, OP_ACCEPT, this);
    }

    private void pause() {
      key.interestOps(0);
      paused.add(this);
    }

    private void resume() {
      if (paused.remove(this) && key.isValid()) {
        key.interestOps(OP_ACCEPT);
        fabric.wake();
      }
    }

    /** Returns the address of the port. */
    public InetSocketAddress address() {
      return (InetSocketAddress) channel.socket().getLocalSocketAddress();
    }

    @Override
    public boolean ready(int operations) {
      boolean any = false;
      try {
        while (halfOpen < mostHalfOpen) {
          SocketChannel accepted = channel.accept();
          if (accepted == null) {
            return any;
          }
          any = true;
          take(accepted);
        }
        pause();
      } catch (IOException e) {
        // Mostly, too many files are open: waiting connections are accepted after a pause.
        pause();
        alarm.set(time.now() + PAUSE_NANOS);
        // A driver that fell asleep since the last wake-up does not know of the alarm.
        fabric.wake();
      }
      return any;
    }

    private void take(SocketChannel accepted) throws IOException {
      try {
        prepare(accepted);
      } catch (IOException e) {
        accepted.close();
        throw e;
      }
      halfOpen++;
      NioSocket socket = new NioSocket(accepted, fabric::wake);
      StreamSocket seen = capture == null ? socket : CapturedSocket.passive(socket, capture);
      add(TcpStream.passive(TcpSockets.this, seen, asked), socket, 0);
    }

    /** Closes the port; not for threads that have entered the fabric. */
    @Override
    public void close() {
      fabric.enter();
      try {
        alarm.cancel();
        paused.remove(this);
        channel.close();
        // A registered channel keeps its socket until the next select.
        selector.selectNow(each -> {});
      } catch (IOException e) {
        throw new VerbsException(VerbsError.IO, "close socket: " + e, e);
      } finally {
        fabric.leave();
      }
    }
  }

  @Override
  public void notHalfOpen() {
    halfOpen--;
    for (int i = paused.size() - 1; i >= 0; i--) {
      paused.get(i).resume();
    }
  }

  // ---- streams

  @Override
  public Timeline time() {
    return time;
  }

  @Override
  public void wake() {
    fabric.wake();
  }

  @Override
  public ByteBuffer waste() {
    return waste.clear();
  }

  @Override
  public CipherWorkspace workspace() {
    return workspace;
  }

  @Override
  public void runs(TcpStream stream) {
    running.add(stream);
  }

  @Override
  public void stops(TcpStream stream) {
    running.remove(stream);
  }

  @Override
  public void closed(TcpStream stream) {
    running.remove(stream);
    open.remove(stream);
    hasStreams = !open.isEmpty();
    closedSome = true;
    try {
      stream.socket().close();
    } catch (IOException e) {
      // The socket is closed all the same, and nothing waits for the bytes that it did not send.
      DrivenFabric.report(e);
    }
    fabric.wake();
  }

  /** Returns whether there are streams; for any thread. */
  boolean hasStreams() {
    return hasStreams;
  }

  /**
   * Returns the number of passive streams whose request no program has yet; for threads that have
   * entered the fabric.
   */
  int halfOpen() {
    return halfOpen;
  }

  /**
   * Lets streams and ports handle bytes and connections that have come; returns whether there were
   * any.
   */
  boolean receive() {
    came = false;
    boolean few = running.size() <= FEW;
    if (few) {
      readAll();
    }
    long now = time.now();
    long limit = came ? READING_NANOS : SELECTING_NANOS;
    if (closedSome || !few || now - lastSelected >= limit) {
      closedSome = false;
      lastSelected = now;
      select();
    }
    return came;
  }

  /** Reads from each stream; some streams may end meanwhile. */
  private void readAll() {
    for (int i = running.size() - 1; i >= 0; i--) {
      if (i < running.size()) {
        came |= running.get(i).ready(OP_READ);
      }
    }
  }

  private void select() {
    try {
      selector.selectNow(onSelected);
    } catch (IOException e) {
      throw new VerbsException(VerbsError.IO, "select: " + e, e);
    }
  }

  private void selected(SelectionKey key) {
    if (key.isValid() && key.attachment() instanceof Selected ready) {
      came |= ready.ready(key.readyOps());
      fabric.settle();
    }
  }
}
