// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.emulated.hca.FailureLog;
import io.verbena.emulated.hca.KeyEntry;
import io.verbena.emulated.mapped.ReadGrants;
import io.verbena.emulated.mapped.SharedPlace;
import io.verbena.emulated.roce.PacketFault;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.HostWire;
import io.verbena.emulated.wire.UdpWire;
import io.verbena.emulated.wire.UnreachableReports;
import io.verbena.verbs.Gid;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A wire in shared memory: a pair of rings and a Unix domain socket to each process with which this
 * process exchanges packets. A byte on the socket wakes a sleeping peer; the end of the socket's
 * stream shows that a peer is gone, for whatever reason.
 *
 * <p>Packets carry no IP header and no invariant CRC, since memory does not damage them.
 */
public final class ShmWire implements HostWire {
  /** The bytes of a ring; a host has two rings for each other host. */
  static final int RING = 1 << 19;

  private static final int NANOS_PER_MILLI = 1_000_000;

  /**
   * The number of turns after which sockets are checked if the host never sleeps: peers may come or
   * go while another peer keeps sending.
   */
  private static final int LOOKING_TURNS = 1024;

  /**
   * The longest sleep that peers are expected to end: a peer that has cleared the flag may be
   * stopped before it wakes this host, or may misbehave.
   */
  private static final long LONGEST_SLEEP_MILLIS = 100;

  /** The time to wait for room: a peer with a full ring is awake, and makes room soon. */
  private static final long FULL_NANOS = 50_000;

  private final SharedFolder folder;
  private final Gid gid;
  private final FileChannel alive;
  private final SleepFlag asleep;
  private final OwnSlabs slabs;
  private final HostReadGrants grants;
  private final Selector selector;
  private final HostServer server;

  /** Held by the thread that uses the selector; only the closing thread waits for it. */
  private final ReentrantLock selecting = new ReentrantLock();

  private final RocePacket packet = RocePacket.unchecked();

  /** Written by the driver only. */
  private volatile ShmLink[] links = new ShmLink[0];

  /**
   * Closed links, whose memory a thread that is about to sleep may still read. For the driver only.
   */
  private final List<ShmLink> closedLinks = new ArrayList<>();

  private final DepartedHostFiles departed;

  private final AbsentHostReports absent = new AbsentHostReports();

  private Consumer<Gid> departures = host -> {};
  private @Nullable ShmPort port;
  private UdpWire.@Nullable Capture capture;
  private int turn;
  private int turns;

  /** True while a packet is handed over, which may lead to another call of {@link #receive}. */
  private boolean taking;

  private int made;
  private boolean behind;
  private volatile boolean socketsReady;
  private volatile boolean full;
  private volatile boolean closed;

  /**
   * True if the next sleep must not begin. The selector's own wake-up is not enough: a select
   * without a sleep consumes it.
   */
  private volatile boolean woken;

  private ShmWire(SharedFolder folder, long chance) throws IOException {
    this.folder = folder;
    gid = SharedFolder.newHost(chance);
    List<AutoCloseable> opened = new ArrayList<>();
    try {
      alive = folder.createHost(gid);
      opened.add(alive);
      selector = Selector.open();
      opened.add(selector);
      server = HostServer.open(folder, gid, selector);
      opened.add(server);
      asleep = new SleepFlag(folder.createFlag(gid));
    } catch (IOException e) {
      for (AutoCloseable each : opened) {
        close(each);
      }
      folder.removeHost(gid);
      throw e;
    }
    departed = new DepartedHostFiles(folder);
    // The JVM's default limit on direct memory.
    slabs = new OwnSlabs(folder, gid, asleep, Runtime.getRuntime().maxMemory());
    grants = new HostReadGrants(gid, asleep.grants(), this::find);
    links = new ShmLink[] {ShmLink.toItself(gid, RING, slabs, asleep.grants())};
  }

  /**
   * Opens the wire of a new host.
   *
   * @param chance random bits that make its address unique
   * @throws IOException if the files by which peers find the host cannot be created
   */
  public static ShmWire open(SharedFolder folder, long chance) throws IOException {
    return new ShmWire(folder, chance);
  }

  /** Closes one of several, and logs a failure: the others are closed all the same. */
  private static void close(AutoCloseable each) {
    try {
      each.close();
    } catch (Exception | Error e) {
      FailureLog.get().failed(new IllegalStateException("close " + each, e));
    }
  }

  /** Calls {@code newCapture}, unless it is null, for each packet from now on. */
  public void capture(UdpWire.@Nullable Capture newCapture) {
    capture = newCapture;
  }

  @Override
  public void departures(Consumer<Gid> listener) {
    departures = listener;
  }

  @Override
  public boolean isLossless() {
    return true;
  }

  @Override
  public int bufferedPackets(int payload) {
    int headers = RocePacket.CAPACITY - RocePacket.MAX_PAYLOAD - RocePacket.UDP_PAYLOAD_OFFSET;
    return RING / PacketRing.size(payload + headers);
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
    // Packets first: the byte that woke this host can wait, the packet behind it cannot.
    int count = take(most);
    behind = count == most;
    departed.removeFiles();
    if (!taking && (socketsReady || ++turns >= LOOKING_TURNS)) {
      lookAtSockets();
    }
    return count;
  }

  /** Takes packets from one link after the other, so that none waits forever. */
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
        int length = from.in.read(packet.udpSpace());
        if (length == PacketRing.EMPTY) {
          return count;
        }
        count++;
        PacketFault fault = packet.parseUdp(length, from.peer, from.in.tag(), gid);
        if (from.in.refers() && fault == PacketFault.NONE && !from.refer(packet)) {
          continue;
        }
        UdpWire.Capture copy = capture;
        if (copy != null) {
          copy.packet(packet);
        }
        to.receiver.receive(packet, fault);
        if (from.in.refers()) {
          packet.reference().clear();
          from.in.release();
        }
      }
    } catch (CorruptRingException e) {
      // A process that writes impossible records is no peer any more.
      depart(from);
    } finally {
      taking = within;
    }
    return count;
  }

  // ---- memory

  @Override
  public ByteBuffer allocate(int length) {
    return slabs.allocate(length);
  }

  @Override
  public @Nullable SharedPlace placeOf(ByteBuffer memory) {
    return slabs.placeOf(memory);
  }

  // ---- sockets

  private void lookAtSockets() {
    if (!selecting.tryLock()) {
      return;
    }
    turns = 0;
    try {
      server.acceptAgain();
      if (!socketsReady) {
        selector.selectNow();
      }
      // If handling one of them throws, the others are handled next time.
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
      for (ShmLink each : links) {
        each.unmapFreed();
      }
    } catch (ClosedSelectorException | CancelledKeyException e) {
      // The wire was closed meanwhile: there is nothing to handle.
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
      drain(link);
    } else if (attached instanceof Introduction introduction) {
      introduced(key, introduction);
    } else {
      server.accept();
    }
  }

  private void introduced(SelectionKey key, Introduction introduction) {
    try {
      if (introduction.read()) {
        ShmLink link = introduction.link(folder, RING);
        add(link);
        key.attach(link);
        drain(link);
      }
    } catch (IOException | InvalidPathException e) {
      // Not a peer, or one that is gone already.
      introduction.close();
    }
  }

  private void drain(ShmLink link) {
    if (!link.drain()) {
      // First takes the packets that the peer wrote before it left.
      ShmPort to = port;
      if (to != null) {
        int unused = take(link, to, RING / Long.BYTES);
      }
      depart(link);
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
        departed.add(link.peer);
        departures.accept(link.peer);
      }
    }
  }

  /**
   * Unmaps closed links. For the thread that may use the selector: then no other thread reads them.
   */
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

  /**
   * Returns the link to a host, which is opened if there is none; null if the host cannot be
   * reached.
   */
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
      // A thread that sleeps already must watch the new socket, too.
      selector.wakeup();
      return link;
    } catch (NoSuchFileException | ConnectException e) {
      absent.absent(peer);
      return null;
    } catch (BusyHostException e) {
      // The sender treats this as a peer that does not answer yet, and sends again.
      return null;
    } catch (IOException e) {
      // For instance, the folder is full. The sender treats this as a peer that does not answer;
      // the log has the reason.
      FailureLog.get().failed(e);
      return null;
    }
  }

  @Override
  public @Nullable UnreachableReports unreachableReports(int flow, Gid of) {
    return absent.reports(of);
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
        server.acceptAgain();
        if ((millis == 0 ? selector.selectNow() : sleep(millis)) > 0) {
          socketsReady = true;
        }
      }
    } catch (ClosedSelectorException | CancelledKeyException e) {
      // The wire was closed meanwhile: there is nothing to wait for.
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
      return woken || isReadable() ? selector.selectNow() : selector.select(limited(millis));
    } finally {
      woken = false;
      asleep.awakes();
    }
  }

  /**
   * Limits a sleep if peers must be able to end it, if the server is paused, or if files are to be
   * removed.
   */
  private long limited(long millis) {
    return server.isPaused() || links.length > 1 || !departed.isEmpty()
        ? Math.min(millis, LONGEST_SLEEP_MILLIS)
        : millis;
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
      woken = true;
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
      close(each::close);
      closedLinks.add(each);
    }
    links = new ShmLink[0];
    // Also the accepted sockets without a link, which only their selection keys refer to.
    for (SelectionKey each : selector.keys()) {
      close(each.channel());
    }
    UdpWire.Capture copy = capture;
    if (copy != null) {
      close(copy::close);
    }
    // Ends a sleep, and waits for its end.
    close(selector);
    selecting.lock();
    try {
      close(this::unmapClosed);
      close(slabs::close);
      close(asleep::unmap);
    } finally {
      selecting.unlock();
    }
    // If a file is left, the next host that opens removes it.
    close(() -> folder.removeHost(gid));
    close(alive);
  }

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
    public RocePacket packet() {
      return capture == null ? RocePacket.unchecked() : RocePacket.direct();
    }

    @Override
    public boolean takesReferences() {
      // A capture needs all bytes of a packet.
      return capture == null;
    }

    @Override
    public @Nullable ReadGrants readGrants() {
      return capture == null ? grants : null;
    }

    @Override
    public void withdraw(int queuePair) {
      grants.revoke(queuePair);
      for (ShmLink each : links) {
        each.withdraw(queuePair);
      }
    }

    @Override
    public void withdrawKey(int dead) {
      grants.revokeKey(dead);
      for (ShmLink each : links) {
        each.withdrawKeys(dead, KeyEntry.INDEX);
      }
    }

    @Override
    public void dropped() {
      // Otherwise the driver would wait for room until the next packet is sent.
      full = false;
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
    public Outcome send(RocePacket packet, int to) {
      ShmLink link = linkTo(packet.destinationHigh(), packet.destinationLow());
      if (link == null) {
        full = false;
        return Outcome.DROPPED;
      }
      if (!link.send(packet)) {
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
