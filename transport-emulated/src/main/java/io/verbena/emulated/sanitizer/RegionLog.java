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
 * A memory region, the outstanding work requests that name it, and its twin.
 *
 * <p>The twin is a second region of the same length. The device writes messages and the answers of
 * READs and atomics into the twin, and what came is copied to the program's memory as the
 * completion is polled: until then that memory holds {@linkplain Poison poison}, and whatever
 * changes it was the program. A region that peers may reach, or windows be bound to, has no twin,
 * since there memory may rightly change without a completion.
 */
final class RegionLog {
  /** What a finished inbound piece told. */
  enum Verdict {
    FINE,
    WRITTEN,
    FREED
  }

  private static final Set<Access> LOCAL = Set.of(Access.LOCAL_WRITE);
  private static final int LARGEST_TWIN = 1 << 28;

  private final DomainLog domain;
  private final ByteBuffer memory;
  private final long address;
  private final int localKey;
  private final int remoteKey;
  private final Set<Access> access;
  private final EnumSet<Access> used = EnumSet.noneOf(Access.class);

  /** Inbound pieces that overlap no other one, by address. */
  private final TreeMap<Long, Piece> apart = new TreeMap<>();

  private final Set<Piece> piled = new LinkedHashSet<>();
  private final Set<Piece> outbound = new LinkedHashSet<>();
  private @Nullable MemoryRegion twin;
  private @Nullable ByteBuffer twinMemory;
  private boolean twinless;
  private boolean touched;
  private boolean closed;

  RegionLog(DomainLog domain, MemoryRegion region, ByteBuffer memory) {
    this.domain = domain;
    this.memory = memory;
    address = region.address();
    localKey = region.lkey();
    remoteKey = region.rkey();
    access = region.access();
    twinless = !access.equals(LOCAL) || memory.capacity() > LARGEST_TWIN;
  }

  DomainLog domain() {
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

  boolean holdsPoison(Piece piece) {
    return Poison.isIn(memory, offset(piece), piece.length);
  }

  synchronized boolean isClosed() {
    return closed;
  }

  /** Someone used this right. */
  synchronized void use(Access right) {
    used.add(right);
    touched = true;
  }

  /** The rights that were granted for nothing, once it is known who used the region. */
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
      // They need it, used or not.
      rest.remove(Access.LOCAL_WRITE);
    }
    return rest;
  }

  /** A piece to be sent from here. */
  synchronized void addOutbound(Piece piece) {
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
  }

  /**
   * Copies to the twin what lies in a piece beside the answers that it waits for, so that the
   * device finds all of it there.
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
   * A piece of a receive, or where an answer goes: the device gets the twin, the program poison.
   *
   * @return false if the JVM has no memory for that; the device then gets the piece itself
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
      // The program has not asked for this memory, and may well go on without it.
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

  /** Whether it overlaps no other piece. */
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
   * Its twin, or null if it has none.
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

  /** The address to give to the device for this piece. */
  synchronized long deviceAddress(Piece piece) {
    return piece.twinned && twin != null ? twin.address() + offset(piece) : piece.address;
  }

  /** The key to give to the device for this piece. */
  synchronized int deviceKey(Piece piece) {
    return piece.twinned && twin != null ? twin.lkey() : piece.key;
  }

  /**
   * The device is done with an inbound piece, or it was dropped.
   *
   * @param received how many bytes of it arrived
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
   * The region is closed; no piece touches it any more.
   *
   * @return the requests that are outstanding on it
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
        // Freed before it was closed: there is nothing left that could be put right.
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
