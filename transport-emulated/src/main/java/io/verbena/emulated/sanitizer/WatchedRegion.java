// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.Access;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What the sanitizer knows of one memory region: the outstanding work requests that name it, and
 * its twin.
 *
 * <p>The twin is a second region of the same length. The device writes messages and the answers of
 * READs and atomics into the twin, and a poll of the completion copies the received bytes to the
 * program's memory. Until then the program's memory holds {@linkplain Poison poison}, and only the
 * program can change it. Regions that peers may access, or that windows may be bound to, have no
 * twin, since their memory may rightly change without a completion; nor have regions of more than
 * 256 MiB.
 */
final class WatchedRegion {
  /** The result of checking a finished inbound piece. */
  enum Verdict {
    FINE,
    WRITTEN,
    FREED
  }

  private static final Set<Access> LOCAL = Set.of(Access.LOCAL_WRITE);
  private static final int LARGEST_TWIN = 1 << 28;

  private final WatchedDomain domain;
  private final ByteBuffer memory;
  private final long address;
  private final int localKey;
  private final int remoteKey;
  private final Set<Access> access;
  private final EnumSet<Access> used = EnumSet.noneOf(Access.class);

  /** Inbound pieces that overlapped no other piece when they were added, by address. */
  private final TreeMap<Long, Piece> apart = new TreeMap<>();

  /** Inbound pieces that overlapped another piece when they were added. */
  private final Set<Piece> piled = new LinkedHashSet<>();

  private final Set<Piece> outbound = new LinkedHashSet<>();
  private @Nullable MemoryRegion twin;
  private @Nullable ByteBuffer twinMemory;
  private boolean twinless;
  private boolean touched;
  private boolean closed;

  WatchedRegion(WatchedDomain domain, MemoryRegion region, ByteBuffer memory) {
    this.domain = domain;
    this.memory = memory;
    address = region.address();
    localKey = region.lkey();
    remoteKey = region.rkey();
    access = region.access();
    twinless = !access.equals(LOCAL) || memory.capacity() > LARGEST_TWIN;
  }

  WatchedDomain domain() {
    return domain;
  }

  ByteBuffer memory() {
    return memory;
  }

  int localKey() {
    return localKey;
  }

  int remoteKey() {
    return remoteKey;
  }

  boolean contains(long from, int bytes) {
    long offset = from - address;
    return offset >= 0 && offset <= memory.capacity() - bytes;
  }

  private int offset(Piece piece) {
    return (int) (piece.address - address);
  }

  ByteBuffer bytes(Piece piece) {
    return memory.slice(offset(piece), piece.length);
  }

  synchronized boolean isClosed() {
    return closed;
  }

  /** Notes that a right was used. */
  synchronized void use(Access right) {
    used.add(right);
    touched = true;
  }

  /** Returns the rights that were never used; none if the region itself was never used. */
  synchronized Set<Access> unused() {
    EnumSet<Access> rest = EnumSet.noneOf(Access.class);
    if (!touched) {
      return rest;
    }
    rest.addAll(access);
    rest.removeAll(used);
    if (access.contains(Access.REMOTE_WRITE)
        || access.contains(Access.REMOTE_ATOMIC)
        || used.contains(Access.MW_BIND)) {
      // These rights require LOCAL_WRITE, whether it is used or not.
      rest.remove(Access.LOCAL_WRITE);
    }
    return rest;
  }

  /** Returns whether other requests may change the bytes of a piece. */
  synchronized boolean isShared(Piece piece) {
    return piece.shared;
  }

  /**
   * Adds a piece whose bytes are sent.
   *
   * @return true if a copy of poison is among the bytes, and no other request may change them
   */
  synchronized boolean addOutbound(Piece piece) {
    touched = true;
    outbound.add(piece);
    List<Piece> others = overlapping(piece);
    for (Piece other : others) {
      piece.shared = true;
      restore(other);
      piece.twinned |= other.twinned && piece.posted.awaits(other.posted);
    }
    if (piece.twinned) {
      completeTwin(piece, others);
    }
    return !piece.shared && Poison.isIn(memory, offset(piece), piece.length);
  }

  /**
   * Copies the bytes of a piece to the twin, except those of the answers that the piece waits for,
   * so that the device finds the whole piece in the twin.
   */
  private void completeTwin(Piece piece, List<Piece> answers) {
    ByteBuffer bytes = twinMemory;
    if (bytes == null) {
      return;
    }
    answers.sort(Comparator.comparingLong(answer -> answer.address));
    long done = piece.address;
    for (Piece answer : answers) {
      copyToTwin(bytes, done, Math.min(answer.address, piece.end()));
      done = Math.max(done, answer.end());
    }
    copyToTwin(bytes, done, piece.end());
  }

  private void copyToTwin(ByteBuffer bytes, long from, long to) {
    if (from < to) {
      int offset = (int) (from - address);
      bytes.put(offset, memory, offset, (int) (to - from));
    }
  }

  synchronized void removeOutbound(Piece piece) {
    outbound.remove(piece);
  }

  /**
   * Adds a piece for a message or an answer: the device will write to the twin, and the program's
   * memory is poisoned.
   *
   * @return false if the JVM has no memory left for that; then the device writes to the piece
   *     itself
   */
  synchronized boolean addInbound(Piece piece) {
    boolean alone = place(piece);
    if (piece.length == 0 || closed) {
      return true;
    }
    byte @Nullable [] original;
    try {
      if (openTwin() == null) {
        return true;
      }
      original = alone ? new byte[piece.length] : null;
    } catch (OutOfMemoryError e) {
      // The program does not need this memory, and continues without it.
      twinless = twin == null;
      return false;
    }
    piece.twinned = true;
    if (original != null) {
      memory.get(offset(piece), original);
      Poison.fill(memory, offset(piece), piece.length);
      piece.original = original;
    }
    return true;
  }

  /** Adds a piece; returns whether it overlaps no other piece. */
  private boolean place(Piece piece) {
    use(Access.LOCAL_WRITE);
    boolean alone = true;
    for (Piece other : overlapping(piece)) {
      restore(other);
      alone = false;
    }
    for (Piece other : outbound) {
      if (other.overlaps(piece)) {
        other.shared = true;
        alone = false;
      }
    }
    if (piece.length > 0) {
      if (alone) {
        apart.put(piece.address, piece);
      } else {
        piled.add(piece);
      }
    }
    return alone;
  }

  private List<Piece> overlapping(Piece piece) {
    List<Piece> found = new ArrayList<>(0);
    if (piece.length == 0) {
      return found;
    }
    Map.Entry<Long, Piece> before = apart.lowerEntry(piece.address);
    if (before != null && before.getValue().overlaps(piece)) {
      found.add(before.getValue());
    }
    found.addAll(apart.subMap(piece.address, Math.max(piece.address, piece.end())).values());
    for (Piece other : piled) {
      if (other.overlaps(piece)) {
        found.add(other);
      }
    }
    return found;
  }

  /**
   * Returns the twin, which the first call creates; null if the region has none.
   *
   * @throws OutOfMemoryError if the JVM has no memory for one
   */
  private @Nullable MemoryRegion openTwin() {
    if (twin != null || twinless) {
      return twin;
    }
    try {
      ByteBuffer bytes = domain.device.allocate(memory.capacity());
      twin = domain.domain.register(bytes, LOCAL);
      twinMemory = bytes;
    } catch (VerbsException e) {
      if (e.error() != VerbsError.NO_MEMORY) {
        throw e;
      }
      twinless = true;
    }
    return twin;
  }

  /** Returns the address to give to the device for this piece. */
  synchronized long deviceAddress(Piece piece) {
    return piece.twinned && twin != null ? twin.address() + offset(piece) : piece.address;
  }

  /** Returns the key to give to the device for this piece. */
  synchronized int deviceKey(Piece piece) {
    return piece.twinned && twin != null ? twin.lkey() : piece.key;
  }

  /**
   * Removes an inbound piece that the device has finished, or that was dropped.
   *
   * @param received the number of its bytes that arrived
   */
  synchronized Verdict finish(Piece piece, int received) {
    apart.remove(piece.address, piece);
    piled.remove(piece);
    if (closed) {
      return Verdict.FINE;
    }
    try {
      boolean written =
          piece.original != null && !Poison.fills(memory, offset(piece), piece.length);
      restore(piece);
      if (piece.twinned && twinMemory != null && received > 0) {
        memory.put(offset(piece), twinMemory, offset(piece), received);
      }
      return written ? Verdict.WRITTEN : Verdict.FINE;
    } catch (IllegalStateException e) {
      return Verdict.FREED;
    }
  }

  private void restore(Piece piece) {
    byte[] original = piece.original;
    if (original != null) {
      piece.original = null;
      Poison.replace(memory, offset(piece), original);
    }
  }

  /**
   * Notes that the region was closed, closes the twin, and restores the poisoned bytes.
   *
   * @return the requests that are outstanding on the region
   */
  Set<Posted> close() {
    Set<Posted> outstanding = new LinkedHashSet<>();
    MemoryRegion rest;
    synchronized (this) {
      closed = true;
      List<Piece> inbound = new ArrayList<>(apart.values());
      inbound.addAll(piled);
      inbound.forEach(piece -> outstanding.add(piece.posted));
      outbound.forEach(piece -> outstanding.add(piece.posted));
      try {
        inbound.forEach(this::restore);
      } catch (IllegalStateException e) {
        // The memory was freed before the region was closed: nothing is left to restore.
        inbound.forEach(piece -> piece.original = null);
      }
      rest = twin;
      twin = null;
    }
    if (rest != null) {
      rest.close();
    }
    return outstanding;
  }
}
