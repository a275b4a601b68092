// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.emulated.hca.FailureLog;
import io.verbena.emulated.roce.Frame;
import io.verbena.emulated.roce.FrameFault;
import io.verbena.emulated.wire.HostWire;
import io.verbena.emulated.wire.Refusals;
import io.verbena.emulated.wire.UdpWire;
import io.verbena.verbs.Gid;
import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Shared memory as a wire: a pair of rings to each process that this one talks to, and a Unix
 * domain socket beside them that wakes a sleeping peer by a byte, and whose end tells that a peer
 * is gone, however it went.
 *
 * <p>Packets go without IP header and without invariant CRC: memory damages nothing.
 */
public final class ShmWire implements HostWire {
  /** What a host needs of shared memory for each other one: two rings. */
  static final int RING = 1 << 19;

  private static final int NANOS_PER_MILLI = 1_000_000;

  /**
   * Turns after which sockets are looked at, for those that never sleep: others may have come, or
   * gone, however much one peer has to say.
   */
  private static final int LOOKING_TURNS = 1024;

  /** How long the server does not accept that could not. */
  private static final long PAUSE_NANOS = 100_000_000;

  /**
   * The longest sleep that peers are to end: who takes the wake-up may be stopped before it wakes,
   * or never mean to.
   */
  private static final long LONGEST_SLEEP_MILLIS = 100;

  /** A peer with a full ring is awake, and makes room soon. */
  private static final long FULL_NANOS = 50_000;

  private final SharedFolder folder;
  private final Gid gid;
  private final FileChannel alive;
  private final SleepFlag asleep;
  private final ServerSocketChannel server;
  private final Selector selector;
  private final SelectionKey accepting;

  /** Held by whoever uses the selector; nobody waits for it but who closes. */
  private final ReentrantLock selecting = new ReentrantLock();

  /** Whether the server accepts nothing now, and since when. For who may use the selector. */
  private boolean paused;

  private long pausedSince;

  private final Frame frame = Frame.unchecked();

  /** Written by the driver alone. */
  private volatile ShmLink[] links = new ShmLink[0];

  /** No links any more, whose memory a sleeper may still be looking at. For the driver alone. */
  private final List<ShmLink> closedLinks = new ArrayList<>();

  /** Peers that somebody asks about. */
  private final Map<Gid, Refused> refused = new HashMap<>();

  private Consumer<Gid> departures = host -> {};
  private @Nullable ShmPort port;
  private UdpWire.@Nullable Capture capture;
  private int turn;
  private int turns;

  /** Whether a packet is being handed over: what that leads to may come back here. */
  private boolean taking;

  private int made;
  private boolean behind;
  private volatile boolean socketsReady;
  private volatile boolean full;
  private volatile boolean closed;

  private ShmWire(SharedFolder folder, long chance) throws IOException {
    this.folder = folder;
    gid = SharedFolder.newHost(chance);
    List<AutoCloseable> opened = new ArrayList<>();
    try {
      alive = folder.createHost(gid);
      opened.add(alive);
      server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
      opened.add(server);
      server.bind(UnixDomainSocketAddress.of(folder.socket(gid)));
      server.configureBlocking(false);
      selector = Selector.open();
      opened.add(selector);
      accepting = server.register(selector, SelectionKey.OP_ACCEPT);
      asleep = new SleepFlag(folder.createFlag(gid));
    } catch (IOException e) {
      for (AutoCloseable each : opened) {
        closeQuietly(each);
      }
      folder.removeHost(gid);
      throw e;
    }
    links = new ShmLink[] {ShmLink.toItself(gid, RING)};
  }

  /**
   * Opens a host.
   *
   * @param chance makes its address differ from others
   * @throws IOException if the files that others find it by cannot be made
   */
  public static ShmWire open(SharedFolder folder, long chance) throws IOException {
    return new ShmWire(folder, chance);
  }

  private static void closeQuietly(AutoCloseable each) {
    try {
      each.close();
    } catch (Exception e) {
      throw new IllegalStateException("close " + each, e);
    }
  }

  /** Has this told of each packet, from now on. */
  public void capture(UdpWire.@Nullable Capture newCapture) {
    capture = newCapture;
  }

  @Override
  public void departures(Consumer<Gid> listener) {
    departures = listener;
  }

  @Override
  public int bufferedPackets(int payload) {
    return RING / (payload + (Frame.CAPACITY - Frame.MAX_PAYLOAD - Frame.UDP_PAYLOAD_OFFSET));
  }

  @Override
  public Port attach(Receiver receiver) {
    if (port != null) {
      throw new IllegalStateException("ports: 1 (expected: < 1)");
    }
    ShmPort attached = new ShmPort(receiver);
    port = attached;
    return attached;
  }

  // ---- receiving

  @Override
  public int receive(int most) {
    if (!taking && (socketsReady || ++turns >= LOOKING_TURNS)) {
      lookAtSockets();
    }
    int count = take(most);
    behind = count == most;
    return count;
  }

  /** From one link after the other, so that none waits for ever. */
  private int take(int most) {
    ShmPort to = port;
    int count = 0;
    ShmLink[] all = links;
    for (int i = 0; i < all.length && to != null && !closed; i++) {
      ShmLink from = all[(turn + i) % all.length];
      int taken = take(from, to, most - count);
      count += taken;
      if (count == most) {
        turn = (turn + i + 1) % all.length;
        return count;
      }
    }
    return count;
  }

  private int take(ShmLink from, ShmPort to, int most) {
    boolean within = taking;
    taking = true;
    int count = 0;
    try {
      while (count < most) {
        int length = from.in.read(frame.udpSpace());
        if (length == PacketRing.EMPTY) {
          return count;
        }
        count++;
        FrameFault fault = frame.parseUdp(length, from.peer, from.in.tag(), gid);
        UdpWire.Capture copy = capture;
        if (copy != null) {
          copy.packet(frame);
        }
        to.receiver.receive(frame, fault);
      }
    } catch (CorruptRingException e) {
      // Whoever writes such things is no peer any more.
      depart(from);
    } finally {
      taking = within;
    }
    return count;
  }

  // ---- sockets

  private void lookAtSockets() {
    if (!selecting.tryLock()) {
      return;
    }
    turns = 0;
    try {
      acceptAgain();
      selector.selectNow();
      // If what one of them leads to throws, the others are looked at next.
      socketsReady = true;
      Iterator<SelectionKey> selected = selector.selectedKeys().iterator();
      while (selected.hasNext()) {
        SelectionKey key = selected.next();
        selected.remove();
        if (key.isValid()) {
          ready(key);
        }
      }
      socketsReady = false;
      unmapClosed();
    } catch (ClosedSelectorException | CancelledKeyException e) {
      // It was closed meanwhile: there is nobody to look for.
      return;
    } catch (IOException e) {
      throw new IllegalStateException("select", e);
    } finally {
      selecting.unlock();
    }
  }

  private void ready(SelectionKey key) {
    Object attached = key.attachment();
    if (attached instanceof ShmLink link) {
      if (!link.drain()) {
        // What it has written before it went is read first.
        ShmPort to = port;
        if (to != null) {
          int unused = take(link, to, RING / Long.BYTES);
        }
        depart(link);
      }
    } else if (attached instanceof Introduction introduction) {
      introduced(key, introduction);
    } else {
      accept();
    }
  }

  private void accept() {
    try {
      SocketChannel accepted = server.accept();
      if (accepted != null) {
        hear(accepted);
      }
    } catch (IOException e) {
      // Too many files are open, mostly: those that wait are accepted when some are closed.
      FailureLog.get().failed(e);
      accepting.interestOps(0);
      paused = true;
      pausedSince = System.nanoTime();
    }
  }

  /** For who may use the selector: ends a pause of the server that has lasted. */
  private void acceptAgain() {
    if (paused && System.nanoTime() - pausedSince >= PAUSE_NANOS) {
      paused = false;
      accepting.interestOps(SelectionKey.OP_ACCEPT);
    }
  }

  private void hear(SocketChannel accepted) throws IOException {
    try {
      accepted.configureBlocking(false);
      accepted.register(selector, SelectionKey.OP_READ, new Introduction(accepted));
    } catch (IOException e) {
      accepted.close();
      throw e;
    }
  }

  private void introduced(SelectionKey key, Introduction introduction) {
    try {
      if (introduction.read()) {
        ShmLink link = introduction.link(folder, RING);
        add(link);
        key.attach(link);
        if (!link.drain()) {
          depart(link);
        }
      }
    } catch (IOException | InvalidPathException e) {
      // No peer, or one that is gone already.
      introduction.close();
    }
  }

  private void add(ShmLink link) {
    ShmLink[] more = Arrays.copyOf(links, links.length + 1);
    more[links.length] = link;
    links = more;
  }

  private void depart(ShmLink link) {
    List<ShmLink> left = new ArrayList<>(List.of(links));
    if (left.remove(link)) {
      links = left.toArray(new ShmLink[0]);
      closedLinks.add(link);
      link.close();
      if (find(link.peer.high(), link.peer.low()) == null) {
        departures.accept(link.peer);
      }
    }
  }

  /** For who may use the selector: no sleeper looks at them. */
  private void unmapClosed() {
    closedLinks.forEach(ShmLink::unmap);
    closedLinks.clear();
  }

  private @Nullable ShmLink find(long high, long low) {
    for (ShmLink each : links) {
      if (each.peer.low() == low && each.peer.high() == high) {
        return each;
      }
    }
    return null;
  }

  /** The rings to a host; null if it is none that lives. */
  private @Nullable ShmLink linkTo(long high, long low) {
    ShmLink known = find(high, low);
    if (known != null || closed) {
      return known;
    }
    Gid peer = new Gid(high, low);
    try {
      ShmLink link = ShmLink.open(folder, gid, peer, made++, RING);
      link.register(selector);
      add(link);
      // A sleeper that knows nothing of its socket yet is to look at it, too.
      selector.wakeup();
      return link;
    } catch (NoSuchFileException | ConnectException e) {
      Refused asked = refused.get(peer);
      if (asked != null) {
        asked.count++;
      }
      return null;
    } catch (IOException e) {
      // No room in the folder, say. To who sends it is a peer that does not answer; the log says
      // why.
      FailureLog.get().failed(e);
      return null;
    }
  }

  @Override
  public @Nullable Refusals refusals(int flow, Gid of) {
    Refused asked = refused.computeIfAbsent(of, Refused::new);
    asked.holders++;
    return asked;
  }

  /** How often a peer was none that lives, for all who ask. */
  private final class Refused implements Refusals {
    private final Gid of;
    private int holders;
    private int count;

    Refused(Gid of) {
      this.of = of;
    }

    @Override
    public int count() {
      return count;
    }

    @Override
    public void close() {
      if (--holders == 0) {
        refused.remove(of);
      }
    }
  }

  // ---- sleeping

  @Override
  public void await(long nanos) {
    if (full) {
      LockSupport.parkNanos(this, Math.min(nanos, FULL_NANOS));
      return;
    }
    select(nanos / NANOS_PER_MILLI);
  }

  @Override
  public void look() {
    select(0);
  }

  private void select(long millis) {
    if (!selecting.tryLock()) {
      return;
    }
    try {
      if (!closed) {
        acceptAgain();
        if ((millis == 0 ? selector.selectNow() : sleep(millis)) > 0) {
          socketsReady = true;
        }
      }
    } catch (ClosedSelectorException | CancelledKeyException e) {
      // It was closed meanwhile: there is nothing to wait for.
      return;
    } catch (IOException e) {
      throw new IllegalStateException("select", e);
    } finally {
      selecting.unlock();
    }
  }

  private int sleep(long millis) throws IOException {
    asleep.sleeps();
    try {
      return isReadable() ? selector.selectNow() : selector.select(limited(millis));
    } finally {
      asleep.awakes();
    }
  }

  /** A sleep that peers are to end, or after which the server accepts again, is short. */
  private long limited(long millis) {
    return paused || links.length > 1 ? Math.min(millis, LONGEST_SLEEP_MILLIS) : millis;
  }

  private boolean isReadable() {
    for (ShmLink each : links) {
      if (each.in.isReadable()) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void wakeup() {
    if (!closed) {
      selector.wakeup();
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    for (ShmLink each : links) {
      each.close();
      closedLinks.add(each);
    }
    links = new ShmLink[0];
    // Ends a sleep, whose end is awaited.
    closeQuietly(selector);
    selecting.lock();
    try {
      unmapClosed();
      asleep.unmap();
    } finally {
      selecting.unlock();
    }
    closeQuietly(server);
    try {
      folder.removeHost(gid);
    } catch (IOException e) {
      throw new IllegalStateException("remove host", e);
    } finally {
      closeQuietly(alive);
    }
  }

  /** The one port. */
  private final class ShmPort implements Port {
    private final Receiver receiver;

    ShmPort(Receiver receiver) {
      this.receiver = receiver;
    }

    @Override
    public Gid gid() {
      return gid;
    }

    @Override
    public Frame frame() {
      return capture == null ? Frame.unchecked() : Frame.direct();
    }

    @Override
    public boolean isBehind() {
      return behind;
    }

    @Override
    public int sourcePort(int flow) {
      return flow & 0xffff;
    }

    @Override
    public Outcome send(Frame packet, int to) {
      ShmLink link = linkTo(packet.destinationHigh(), packet.destinationLow());
      if (link == null) {
        full = false;
        return Outcome.DROPPED;
      }
      if (!link.send(packet.sourcePort(), packet.udpPayload())) {
        full = !link.isStuck();
        return full ? Outcome.FULL : Outcome.DROPPED;
      }
      if (full) {
        full = false;
      }
      UdpWire.Capture copy = capture;
      if (copy != null && !link.isToItself()) {
        copy.packet(packet);
      }
      return Outcome.SENT;
    }

    @Override
    public void close() {
      // The rings close with the wire.
    }
  }
}
