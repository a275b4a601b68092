// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePairReading.Figure;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.ScatterGatherList;
import io.verbena.verbs.VerbsError;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Posted receives that wait for messages. The poster owns {@link #posting}. The taker is the caller
 * of the engine or, on the direct fabric, the owner of the connected send queue; once the queue
 * pair is in ERR and that owner is done, it is the thread that flushes, which owns {@link
 * #posting}. Where several threads may take (from a shared receive queue, or for datagrams), the
 * taker owns an {@link Ownership} for that purpose.
 *
 * <pre>
 *  entry: long 0      work request id
 *              1      number of buffers
 *              2 + 2i address of buffer i
 *              3 + 2i length 32 | lkey 32
 * </pre>
 */
public final class ReceiveRing {
  private static final int FIRST_CAPACITY = 4;
  private static final int COUNT = 1;
  private static final int BUFFERS = 2;

  /**
   * Two cache lines, in longs: if entries are this far apart, no cache line holds parts of two
   * entries.
   */
  private static final int APART = 16;

  /** Held by the posting thread. */
  public final Ownership posting = new Ownership();

  /**
   * The poster replaces the array when more receives wait than fit, and copies them. A taker that
   * still has the old array finds in it all receives that it knows of.
   */
  private volatile long[] entries;

  private final int stride;
  private final int maxReceive;
  private final int maxScatterGather;

  /** One past the last receive that was posted. */
  private final PaddedLong posted = new PaddedLong();

  /** One past the last receive whose completion was polled. */
  private final PaddedLong freed = new PaddedLong();

  private final TakeSide takeSide = new TakeSide();

  /** The fields that only the taker accesses, on cache lines of its own. */
  static final class TakeSide extends CacheLinePadding {
    long taken;
    long postedSeen;

    /**
     * The position of the entry that the fields below hold. It is read ahead, as the entry's cache
     * line is in the poster's cache.
     */
    long ahead = -1;

    long id;
    long address;
    long lengthAndKey;
    int count;

    /** Keeps the reads of {@link ReceiveRing#warm} from being removed as unused. */
    long warmed;

    long a0, a1, a2, a3, a4, a5, a6, a7;
  }

  /** Creates an empty ring. */
  public ReceiveRing(int maxReceive, int maxScatterGather) {
    this(maxReceive, maxScatterGather, 1);
  }

  /**
   * Creates an empty ring for several takers. They do not read ahead, so entries are apart: the
   * poster must not take the next entry's cache line from them by writing an entry beside it.
   */
  static ReceiveRing shared(int maxReceive, int maxScatterGather) {
    return new ReceiveRing(maxReceive, maxScatterGather, APART);
  }

  private ReceiveRing(int maxReceive, int maxScatterGather, int leastStride) {
    this.maxReceive = maxReceive;
    this.maxScatterGather = maxScatterGather;
    stride = Math.max(leastStride, Integer.highestOneBit(2 * (BUFFERS + 2 * maxScatterGather) - 1));
    entries = new long[FIRST_CAPACITY * stride];
  }

  int maxReceive() {
    return maxReceive;
  }

  /** Returns the maximum number of buffers of a receive. */
  public int maxScatterGather() {
    return maxScatterGather;
  }

  /**
   * Adds a receive. Called by the owner of {@link #posting}.
   *
   * @throws PostException {@code INVALID} if it has too many buffers, {@code NO_MEMORY} if the ring
   *     is full
   */
  public void post(ReceiveWorkRequest request) {
    ScatterGatherList buffers = request.buffers();
    int count = buffers.size();
    if (count > maxScatterGather) {
      throw new PostException(
          VerbsError.INVALID,
          request.id(),
          "scatter/gather entries: " + count + " (expected: <= " + maxScatterGather + ")");
    }
    long position = posted.getOpaque();
    long outstanding = position - freed.getAcquire();
    long[] ring = entries;
    if (outstanding >= maxReceive) {
      throw new PostException(
          VerbsError.NO_MEMORY,
          request.id(),
          "receives outstanding: " + maxReceive + " (expected: < " + maxReceive + ")");
    }
    if (outstanding * stride >= ring.length) {
      ring = grow(ring, position);
    }
    int at = at(ring, position);
    ring[at] = request.id();
    ring[at + COUNT] = count;
    for (int i = 0; i < count; i++) {
      ring[at + BUFFERS + 2 * i] = buffers.address(i);
      ring[at + BUFFERS + 1 + 2 * i] =
          (long) buffers.length(i) << 32 | (buffers.lkey(i) & 0xffff_ffffL);
    }
    posted.setRelease(position + 1);
  }

  /** Doubles the capacity, keeping the entries before {@code position}. */
  private long[] grow(long[] full, long position) {
    long[] larger = new long[2 * full.length];
    for (long each = position - full.length / stride; each != position; each++) {
      System.arraycopy(full, at(full, each), larger, at(larger, each), stride);
    }
    entries = larger;
    return larger;
  }

  private int at(long[] ring, long position) {
    return (int) position * stride & ring.length - 1;
  }

  /**
   * Reads the positions of the queue. Thread-safe.
   *
   * @param taken not null if all receives here were taken from a shared receive queue, whose slots
   *     they hold
   */
  public void read(@Nullable TakenReceives taken, Map<Figure, Long> into) {
    if (taken != null) {
      into.put(Figure.RECEIVES_DONE, taken.polled());
      return;
    }
    into.put(Figure.RECEIVES_DONE, freed.getAcquire());
    into.put(Figure.RECEIVES_POSTED, posted.getAcquire());
    into.put(Figure.RECEIVE_QUEUE_SIZE, (long) maxReceive);
  }

  /** Frees the slots of all receives before {@code position}. */
  public void free(long position) {
    if (position > freed.getOpaque()) {
      freed.setRelease(position);
    }
  }

  /** Frees {@code count} slots, for receives that complete in any order. */
  void freeAny(long count) {
    freed.getAndAdd(count);
  }

  /**
   * Moves the next receive of {@code other}, which has one, into this empty ring with as many
   * buffers; it is read ahead. The slot in {@code other} stays in use until it is {@linkplain
   * #freeAny freed}. Called by the taker of both.
   */
  void takeFrom(ReceiveRing other) {
    TakeSide from = other.takeSide;
    TakeSide to = takeSide;
    to.id = from.id;
    to.count = from.count;
    to.address = from.address;
    to.lengthAndKey = from.lengthAndKey;
    to.ahead = to.taken;
    if (to.count > 1) {
      long[] source = other.entries;
      System.arraycopy(
          source,
          other.at(source, from.taken) + BUFFERS + 2,
          entries,
          at(entries, to.taken) + BUFFERS + 2,
          2 * to.count - 2);
    }
    other.take();
    to.postedSeen = to.taken + 1;
    posted.setRelease(to.postedSeen);
  }

  /** Returns the number of receives. Called by the taker. */
  long available() {
    return posted.getAcquire() - takeSide.taken;
  }

  /**
   * Prefetches the next receive of {@code shared} from the poster's cache before a message needs
   * it; another taker may take it meanwhile. Called by the taker of this ring.
   */
  void warm(ReceiveRing shared) {
    long[] ring = shared.entries;
    int at = shared.at(ring, shared.takeSide.taken);
    // The first part and the last, which may be on different cache lines.
    takeSide.warmed += ring[at] + ring[at + BUFFERS + 1];
  }

  /** Returns whether the ring is full. Called by the poster. */
  boolean isFull() {
    return posted.getOpaque() - freed.getAcquire() >= maxReceive;
  }

  /**
   * Returns whether there is a receive, which the methods below then describe. Called by the taker.
   */
  public boolean hasNext() {
    TakeSide side = takeSide;
    return side.ahead == side.taken || readAhead();
  }

  /**
   * Reads the next receive, if there is one, before a message needs it. Called by the taker.
   *
   * @return whether there is a receive
   */
  public boolean readAhead() {
    TakeSide side = takeSide;
    if (side.taken == side.postedSeen) {
      side.postedSeen = posted.getAcquire();
      if (side.taken == side.postedSeen) {
        return false;
      }
    }
    long[] ring = entries;
    int at = at(ring, side.taken);
    side.id = ring[at];
    side.count = (int) ring[at + COUNT];
    if (side.count > 0) {
      side.address = ring[at + BUFFERS];
      side.lengthAndKey = ring[at + BUFFERS + 1];
    } else {
      side.lengthAndKey = 0;
    }
    side.ahead = side.taken;
    return true;
  }

  /** Takes the next receive; returns one past its position. Called by the taker. */
  public long take() {
    return ++takeSide.taken;
  }

  /**
   * Drops all receives for a reset. Called by the taker.
   *
   * @return one past the position of the last receive
   */
  public long clear() {
    long end = posted.getAcquire();
    takeSide.taken = end;
    takeSide.postedSeen = end;
    free(end);
    return end;
  }

  /** Returns the id of the next receive. Called by the taker. */
  public long id() {
    return takeSide.id;
  }

  /** Returns the number of buffers of the next receive. Called by the taker. */
  public int count() {
    return takeSide.count;
  }

  /** Returns the address of a buffer of the next receive. Called by the taker. */
  public long address(int buffer) {
    return buffer == 0 ? takeSide.address : ahead(BUFFERS + 2 * buffer);
  }

  /** Returns the length of a buffer of the next receive, 0 if it has none. Called by the taker. */
  public int length(int buffer) {
    return (int) (lengthAndKey(buffer) >>> 32);
  }

  /** Returns the key of a buffer of the next receive. Called by the taker. */
  public int lkey(int buffer) {
    return (int) lengthAndKey(buffer);
  }

  private long lengthAndKey(int buffer) {
    return buffer == 0 ? takeSide.lengthAndKey : ahead(BUFFERS + 1 + 2 * buffer);
  }

  /** Returns the length of all buffers of the next receive. Called by the taker. */
  public long totalLength() {
    long total = length(0);
    for (int i = 1, count = count(); i < count; i++) {
      total += length(i);
    }
    return total;
  }

  /** Returns a part of the next receive's entry. */
  private long ahead(int part) {
    long[] ring = entries;
    return ring[at(ring, takeSide.taken) + part];
  }
}
