// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import static java.nio.channels.SelectionKey.OP_ACCEPT;
import static java.nio.channels.SelectionKey.OP_READ;

import io.verbena.emulated.driven.Driver;
import io.verbena.emulated.driven.TurnFabric;
import io.verbena.emulated.engine.Timeline;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.hca.Secrets;
import io.verbena.emulated.iwarp.capture.TcpCapture;
import io.verbena.emulated.iwarp.frame.MpaFrame;
import io.verbena.emulated.wire.ClockTime;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An HCA on sockets of TCP: all devices of this JVM share it, its selector and its thread. One
 * thread at a time drives it, as {@link Driver} says.
 */
public final class IwarpFabric extends TurnFabric implements StreamFabric {
  /** Its name, and that of its devices. */
  public static final String NAME = "iwarp0";

  /** Alarms to run before others have their turn. */
  private static final int BATCH = 32;

  /** With no more streams than these each is read from, in place of asking the selector. */
  private static final int FEW = 4;

  /** Of so many turns, one asks the selector all the same. */
  private static final int SELECTING_TURNS = 16;

  private static final int WASTE_BYTES = 16 * 1024;
  private static final long MILLI_NANOS = 1_000_000;

  /** How long a port does not accept that could not. */
  private static final long PAUSE_NANOS = 100_000_000;

  /** The kernel's queue of connections that nobody has accepted. */
  private static final int SOCKET_BACKLOG = 1024;

  private final ClockTime time = new ClockTime();
  private final Selector selector;
  private final Object opening;
  private final Runnable ended;
  private final Driver driver = new Driver(this, new Work());
  private final Consumer<SelectionKey> onSelected = this::selected;
  private final List<TcpStream> running = new ArrayList<>();
  private final Set<TcpStream> open = new HashSet<>();
  private final ByteBuffer waste = ByteBuffer.allocateDirect(WASTE_BYTES);
  private final int mostHalfOpen;
  private final @Nullable TcpCapture capture;

  /** Ports that accept nothing now. */
  private final List<Port> paused = new ArrayList<>();

  /** Passive streams whose request no program has. */
  private int halfOpen;

  private boolean closedSome;

  private int turns;
  private boolean came;
  private int plugged;

  /**
   * Whether the driver is about to sleep in the selector, and whether another asks that: each says
   * so before it looks at the other's, so that nobody waits for a sleep to end by itself.
   */
  private volatile boolean sleeps;

  private volatile boolean asks;

  private volatile boolean inUse;
  private volatile boolean hasStreams;
  private volatile boolean over;

  /** What is told of its socket. */
  interface Selected {
    /**
     * The socket is ready for operations.
     *
     * @return whether that led to anything
     */
    boolean ready(int operations);
  }

  /**
   * An HCA whose thread starts with the first device.
   *
   * @param opening held by whoever opens a device, and while a device is closed
   * @param ended called under {@code opening} when the HCA goes; no device can be opened any more
   * @param mostHalfOpen connections whose request has not come or waits, at the most
   * @param capture what all bytes are written to, or null; the caller closes it
   */
  public IwarpFabric(Object opening, Runnable ended, int mostHalfOpen, @Nullable TcpCapture capture)
      throws IOException {
    super(Secrets.STRONG);
    this.opening = opening;
    this.ended = ended;
    this.mostHalfOpen = mostHalfOpen;
    this.capture = capture;
    selector = Selector.open();
  }

  @Override
  public Set<Counter> counted() {
    return Set.of();
  }

  @Override
  public String deviceName() {
    return NAME;
  }

  /** {@inheritDoc} It has no meaning on the wire; real ones have a MAC address there. */
  @Override
  public Gid nextGid() {
    return new Gid(secrets().nextLong(), 0);
  }

  @Override
  public void check(String verb, AddressVector vector) {
    throw new VerbsException(
        VerbsError.NOT_SUPPORTED,
        verb + " (expected: none, iWARP is connected by its connection manager)");
  }

  @Override
  public EmulatedQueuePair createQueuePair(
      EmulatedProtectionDomain domain, int number, QueuePairOptions options) {
    return new IwarpQueuePair(this, domain, number, options);
  }

  @Override
  public void plug(EmulatedDevice device) {
    synchronized (opening) {
      plugged++;
      inUse = true;
      driver.start(NAME + "-engine");
    }
  }

  @Override
  public void unplug(EmulatedDevice device) {
    synchronized (opening) {
      plugged--;
      if (plugged == 0) {
        inUse = false;
        driver.rouse();
      }
    }
  }

  /** Whether a device is open; under {@code opening}. */
  public boolean isInUse() {
    return inUse;
  }

  @Override
  public void wake() {
    driver.wake();
  }

  @Override
  public boolean isDrivenByPolling() {
    return true;
  }

  @Override
  public boolean progress() {
    return driver.progress();
  }

  @Override
  public void pollingEnds(boolean awaits) {
    driver.pollingEnds();
  }

  @Override
  public ClockTime time() {
    return time;
  }

  @Override
  public ByteBuffer waste() {
    return waste.clear();
  }

  // ---- sockets

  /**
   * For those who have entered: connects.
   *
   * @param from the address of this machine to connect from, or null for any
   * @param nanos how long it may take, the answer of the peer included
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
    NioSocket socket = new NioSocket(channel, this::wake);
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
    wake();
  }

  /** A port that is listened on. */
  public final class Port implements Selected, AutoCloseable {
    private final ServerSocketChannel channel;
    private final TcpStream.Asked asked;
    private final Timeline.Alarm alarm = time.alarm(this::resume);
    private final SelectionKey key;

    private Port(ServerSocketChannel channel, TcpStream.Asked asked) throws IOException {
      this.channel = channel;
      this.asked = asked;
      key = channel.register(selector, OP_ACCEPT, this);
    }

    private void pause() {
      key.interestOps(0);
      paused.add(this);
    }

    private void resume() {
      if (paused.remove(this) && key.isValid()) {
        key.interestOps(OP_ACCEPT);
        wake();
      }
    }

    /** Where it listens. */
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
        // Too many files are open, mostly: those that wait are accepted when some are closed.
        pause();
        alarm.set(time.now() + PAUSE_NANOS);
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
      NioSocket socket = new NioSocket(accepted, IwarpFabric.this::wake);
      StreamSocket seen = capture == null ? socket : CapturedSocket.passive(socket, capture);
      add(TcpStream.passive(IwarpFabric.this, seen, asked), socket, 0);
    }

    /** Not by those who have entered. */
    @Override
    public void close() {
      enter();
      try {
        alarm.cancel();
        paused.remove(this);
        channel.close();
        // A channel that is registered keeps its socket until the selector selects.
        int unused = selectNow(each -> {});
      } catch (IOException e) {
        throw new VerbsException(VerbsError.IO, "close socket: " + e, e);
      } finally {
        leave();
      }
    }
  }

  /**
   * Listens.
   *
   * @throws IOException if that cannot be, {@link java.net.BindException} if the port is taken
   */
  public Port listen(InetSocketAddress at, TcpStream.Asked asked) throws IOException {
    ServerSocketChannel channel = ServerSocketChannel.open();
    enter();
    try {
      channel.configureBlocking(false);
      channel.bind(at, SOCKET_BACKLOG);
      Port port = new Port(channel, asked);
      wake();
      return port;
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    } finally {
      leave();
    }
  }

  @Override
  public void notHalfOpen() {
    halfOpen--;
    for (int i = paused.size() - 1; i >= 0; i--) {
      paused.get(i).resume();
    }
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
      // It is closed all the same, and nobody waits for what it could not send.
      report(e);
    }
    wake();
  }

  // ---- the driver

  /** For those who have entered. */
  private int selectNow(Consumer<SelectionKey> action) throws IOException {
    asks = true;
    try {
      if (sleeps) {
        selector.wakeup();
      }
      return selector.selectNow(action);
    } finally {
      asks = false;
    }
  }

  private void selected(SelectionKey key) {
    if (key.isValid() && key.attachment() instanceof Selected ready) {
      came |= ready.ready(key.readyOps());
      settle();
    }
  }

  /** What its driver does. */
  private final class Work implements Driver.Duties {
    /**
     * {@inheritDoc}
     *
     * <p>What was posted goes out before what has come is looked at. Alarms come last, so that none
     * goes off for an answer that has come.
     */
    @Override
    public boolean work() {
      boolean served = serve();
      came = false;
      turns++;
      if (closedSome || running.size() > FEW || turns % SELECTING_TURNS == 0) {
        closedSome = false;
        select();
      } else {
        for (int i = running.size() - 1; i >= 0; i--) {
          if (i < running.size()) {
            came |= running.get(i).ready(OP_READ);
          }
        }
      }
      boolean ran = time.runDue(BATCH) > 0;
      return served || ran || came;
    }

    private void select() {
      try {
        int unused = selectNow(onSelected);
      } catch (IOException e) {
        throw new VerbsException(VerbsError.IO, "select: " + e, e);
      }
    }

    @Override
    public long untilNextAlarm() {
      return time.untilNext();
    }

    @Override
    public boolean hasWork() {
      return over || hasRung();
    }

    @Override
    public boolean isInUse() {
      return inUse || hasStreams;
    }

    @Override
    public void await(long nanos) {
      sleeps = true;
      try {
        if (!asks) {
          int unused = selector.select(key -> {}, Math.max(1, nanos / MILLI_NANOS));
        }
      } catch (IOException e) {
        throw new VerbsException(VerbsError.IO, "select: " + e, e);
      } finally {
        sleeps = false;
      }
    }

    @Override
    public void wakeup() {
      selector.wakeup();
    }

    @Override
    public boolean isOver() {
      if (!inUse && isQuiet()) {
        end();
      }
      return over;
    }
  }

  private boolean isQuiet() {
    enter();
    try {
      return open.isEmpty();
    } finally {
      leave();
    }
  }

  /** Closes everything, once, unless a device was opened meanwhile. */
  private void end() {
    synchronized (opening) {
      if (over || plugged > 0) {
        return;
      }
      over = true;
      ended.run();
      try {
        selector.close();
      } catch (IOException e) {
        report(e);
      }
    }
  }
}
