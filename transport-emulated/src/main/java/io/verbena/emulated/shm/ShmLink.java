// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.emulated.hca.FailureLog;
import io.verbena.emulated.mapped.PayloadReference;
import io.verbena.emulated.mapped.ReadGrant;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.Gid;
import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.NoSuchFileException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The connection of two hosts: a ring in each direction, and a socket. The opening host creates the
 * file of the rings and sends its name on the socket; the accepting host maps and removes the file.
 * For the driver only.
 */
final class ShmLink {
  private static final byte[] BYTE = {1};

  /**
   * The most reads from one peer's socket in a turn; the rest waits for the next turn, so that
   * other peers are served, too.
   */
  private static final int MOST_DRAINED = 4;

  /** The time without room after which a peer is stuck: a running peer looks at its ring sooner. */
  private static final long PATIENCE_NANOS = 50_000_000;

  final Gid peer;
  final PacketRing in;
  private final PacketRing out;
  private final @Nullable SleepFlag asleep;

  private final Slabs slabs;

  /** The same as {@link #slabs}; null for a link from a host to itself, which maps none. */
  private final @Nullable PeerSlabs mapped;

  /** The read grants of the peer. */
  private final GrantTable grants;

  private final @Nullable SocketChannel socket;

  /** Null for a link from a host to itself. */
  private final @Nullable Mapping rings;

  /** Removes files that the peer has not taken. */
  private final Closing closing;

  private final ByteBuffer wakeup = ByteBuffer.wrap(BYTE);
  private boolean full;
  private long fullSince;

  /** The time of the last send that found no room. */
  private long fullAt;

  private final ByteBuffer drained = ByteBuffer.allocate(64);

  private ShmLink(
      Gid peer,
      PacketRing in,
      PacketRing out,
      @Nullable SleepFlag asleep,
      Slabs slabs,
      GrantTable grants,
      @Nullable SocketChannel socket,
      @Nullable Mapping rings,
      Closing closing) {
    this.peer = peer;
    this.in = in;
    this.out = out;
    this.asleep = asleep;
    this.slabs = slabs;
    mapped = slabs instanceof PeerSlabs peers ? peers : null;
    this.grants = grants;
    this.socket = socket;
    this.rings = rings;
    this.closing = closing;
  }

  /** Runs at the end of the link. */
  private interface Closing {
    void run() throws IOException;
  }

  /** Returns a link from a host to itself: one ring, with an object for each of its two ends. */
  static ShmLink toItself(Gid host, int ring, Slabs slabs, GrantTable grants) {
    ByteBuffer memory = ByteBuffer.allocateDirect(PacketRing.HEADER + ring);
    return new ShmLink(
        host,
        new PacketRing(memory.duplicate()),
        new PacketRing(memory),
        null,
        slabs,
        grants,
        null,
        null,
        () -> {});
  }

  /**
   * Opens a link to another host, and introduces this one.
   *
   * @throws NoSuchFileException if there is no such host
   * @throws ConnectException if the host is gone
   * @throws BusyHostException if the backlog of the host's socket is full
   */
  static ShmLink open(SharedFolder folder, Gid host, Gid peer, int number, int ring)
      throws IOException {
    String name = SharedFolder.ringsName(host, number);
    Deque<AutoCloseable> made = new ArrayDeque<>();
    try {
      Mapping flag = folder.mapFlag(peer);
      made.push(flag);
      SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX);
      made.push(socket);
      // A blocking connect to a stopped peer with a full backlog would delay this end.
      socket.configureBlocking(false);
      if (!socket.connect(UnixDomainSocketAddress.of(folder.socket(peer)))) {
        throw new BusyHostException(peer);
      }
      Mapping rings = folder.createRings(name, length(ring));
      made.push(rings);
      made.push(() -> folder.discardRings(name));
      introduce(socket, Introduction.of(host, name));
      SleepFlag asleep = new SleepFlag(flag);
      return new ShmLink(
          peer,
          half(rings, 1, ring),
          half(rings, 0, ring),
          asleep,
          new PeerSlabs(folder, peer, asleep),
          asleep.grants(),
          socket,
          rings,
          () -> folder.discardRings(name));
    } catch (IOException e) {
      closeAll(made, e);
      throw e;
    }
  }

  private static void introduce(SocketChannel socket, ByteBuffer introduction) throws IOException {
    try {
      socket.write(introduction);
    } catch (IOException e) {
      throw new ConnectException("the peer is gone: " + e.getMessage());
    }
    if (introduction.hasRemaining()) {
      throw new IOException("a new socket does not take " + introduction.limit() + " bytes");
    }
  }

  /** Accepts a link that another host has opened. */
  static ShmLink accept(SharedFolder folder, Gid peer, String rings, int ring, SocketChannel socket)
      throws IOException {
    Mapping memory = folder.takeRings(rings, length(ring));
    try {
      SleepFlag asleep = new SleepFlag(folder.mapFlag(peer));
      return new ShmLink(
          peer,
          half(memory, 0, ring),
          half(memory, 1, ring),
          asleep,
          new PeerSlabs(folder, peer, asleep),
          asleep.grants(),
          socket,
          memory,
          () -> {});
    } catch (IOException e) {
      memory.close();
      throw e;
    }
  }

  private static void closeAll(Deque<AutoCloseable> made, IOException failure) {
    for (AutoCloseable each : made) {
      try {
        each.close();
      } catch (Exception e) {
        failure.addSuppressed(e);
      }
    }
  }

  private static int length(int ring) {
    return 2 * (PacketRing.HEADER + ring);
  }

  private static PacketRing half(Mapping rings, int which, int ring) {
    int length = PacketRing.HEADER + ring;
    return new PacketRing(rings.bytes().slice(which * length, length));
  }

  void register(Selector selector) throws IOException {
    if (socket != null) {
      socket.register(selector, SelectionKey.OP_READ, this);
    }
  }

  boolean isToItself() {
    return socket == null;
  }

  /** Sends a packet; returns false if there is no room. */
  boolean send(RocePacket packet) {
    int tag = packet.sourcePort();
    boolean sent =
        packet.isReferring()
            ? out.write(tag, packet.udpPayload(), packet.payloadLength(), packet.reference())
            : out.write(tag, packet.udpPayload());
    if (!sent) {
      fullAt = System.nanoTime();
      if (!full) {
        full = true;
        fullSince = fullAt;
      }
      return false;
    }
    full = false;
    SleepFlag flag = asleep;
    if (flag != null && flag.takeIfAsleep()) {
      wake();
    }
    out.prepare();
    return true;
  }

  /** Withdraws the payload of a queue pair's requests that the peer has not copied. */
  void withdraw(int queuePair) {
    out.withdraw(queuePair);
  }

  /**
   * Withdraws the payload that the peer has not copied, under keys that equal {@code key} in the
   * bits of {@code mask}.
   */
  void withdrawKeys(int key, int mask) {
    out.withdrawKeys(key, mask);
  }

  /** Unmaps the slabs that the peer has freed. */
  void unmapFreed() {
    if (mapped != null) {
      mapped.unmapFreed();
    }
  }

  /**
   * Finds the payload that the packet read last refers to. Returns false if the packet must be
   * dropped, because its sender has withdrawn the payload or freed the slab.
   *
   * @throws CorruptRingException if the packet refers to an impossible place
   */
  boolean refer(RocePacket packet) {
    if (in.isWithdrawn()) {
      return false;
    }
    int offset = in.offset();
    int length = in.payload();
    ByteBuffer memory;
    try {
      memory = slabs.find(in.slab());
    } catch (NoSuchFileException e) {
      return false;
    } catch (IOException e) {
      FailureLog.get().failed(e);
      return false;
    }
    if (memory == null) {
      return false;
    }
    int most = packet.mayRefer() ? Math.min(RocePacket.MAX_REFERENCE, memory.capacity()) : 0;
    if (length < 1 || length > most) {
      throw new CorruptRingException("bytes of payload", length, most);
    }
    if (offset < 0 || offset > memory.capacity() - length) {
      throw new CorruptRingException("index of a payload", offset, memory.capacity() - length);
    }
    packet.reference().found(memory, offset, in);
    packet.refer(length);
    return true;
  }

  /**
   * Finds granted memory of the peer, as {@link io.verbena.emulated.mapped.ReadGrants#find} does.
   */
  boolean find(long reader, ReadGrant wanted, PayloadReference to) {
    if (!grants.find(reader, wanted)) {
      return false;
    }
    ByteBuffer memory;
    try {
      memory = slabs.find(grants.slab());
    } catch (IOException e) {
      // The slab is gone, or cannot be mapped: the answer to a packet tells more.
      return false;
    }
    int at = grants.offset();
    if (memory == null || at < 0 || at > memory.capacity() - wanted.length()) {
      return false;
    }
    to.found(memory, at, grants);
    return true;
  }

  /**
   * Returns whether, at the last send, the peer had made no room for more than 50 ms: then packets
   * to other peers must not wait for it.
   */
  boolean isStuck() {
    // Uses the time of the last send, not the present: a pause of this thread since then says
    // nothing about the peer.
    return full && fullAt - fullSince > PATIENCE_NANOS;
  }

  private void wake() {
    SocketChannel to = socket;
    try {
      if (to != null) {
        // A full socket holds bytes that the peer has not read, which wake it as well.
        to.write(wakeup.clear());
      }
    } catch (IOException e) {
      // The peer is gone; reading from the socket finds that.
      return;
    }
  }

  /** Reads the bytes that woke this end; returns false if the peer is gone. */
  boolean drain() {
    SocketChannel from = socket;
    try {
      int count = drained.capacity();
      for (int i = 0; from != null && count == drained.capacity() && i < MOST_DRAINED; i++) {
        count = from.read(drained.clear());
      }
      return count >= 0;
    } catch (IOException e) {
      return false;
    }
  }

  /** Closes the socket. Other threads may still look at the rings, until {@link #unmap}. */
  void close() {
    try {
      if (socket != null) {
        socket.close();
      }
      closing.run();
    } catch (IOException e) {
      // The file stays until this host ends. Operations that wait for the peer must be ended all
      // the same.
      FailureLog.get().failed(e);
    }
  }

  /** Unmaps the memory. Called after {@link #close}, when no thread uses the memory any more. */
  void unmap() {
    if (mapped != null) {
      mapped.close();
    }
    if (rings != null) {
      rings.close();
    }
    if (asleep != null) {
      asleep.unmap();
    }
  }
}
