// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.WorkCompletion;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a completion queue. Many producers {@linkplain #claim claim} an entry and then
 * {@linkplain #publish publish} it; there is one consumer at a time. An entry and the stamp that
 * publishes it share a cache line:
 *
 * <pre>
 *  long 0  stamp: 1 + the entry's position, written last
 *       1  work request id
 *       2  queue pair number 24 | attachment 16 | status 8 | opcode 8 | flags 8
 *       3  byte length, or vendor error 32 | immediate 32
 *       4  the position in its send or receive queue that the completion frees
 *       5  the sender's queue pair number, if the flags have GRH
 * </pre>
 *
 * <p>A queue begins with a small ring. When that is full, a larger ring {@linkplain #follow
 * follows} it; positions below the larger ring's base stay in the smaller one.
 */
public final class CompletionRing {
  /** The result of {@link #claim} when the ring is full. */
  public static final long OVERRUN = -1;

  /** The bit at which each field of the packed third long begins. */
  static final int QPN_SHIFT = 40;

  static final int ATTACHMENT_SHIFT = 24;
  static final int STATUS_SHIFT = 16;
  static final int OPCODE_SHIFT = 8;

  /** Set in {@link #tail} while a larger ring is being installed: the producers wait. */
  private static final long FROZEN = Long.MIN_VALUE;

  private static final int STRIDE_SHIFT = 3;
  private static final int ID = 1;
  private static final int PACKED = 2;
  private static final int DETAIL = 3;
  private static final int FREES = 4;
  private static final int SOURCE = 5;

  private static final VarHandle ENTRY = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] entries;
  private final int mask;
  private final PaddedLong tail;
  private final PaddedLong headSeenByProducers;
  private final PaddedLong head;

  /** The maximum number of entries that are claimed and not consumed; at most the capacity. */
  private int room;

  /** The first position in this ring; lower positions are in {@link #previous}. */
  private long base;

  private @Nullable CompletionRing previous;

  /** Creates an empty ring with room for {@code room} entries. */
  public CompletionRing(int room) {
    this(room, new PaddedLong(), new PaddedLong(), new PaddedLong());
  }

  private CompletionRing(
      int room, PaddedLong tail, PaddedLong headSeenByProducers, PaddedLong head) {
    this.room = room;
    this.tail = tail;
    this.headSeenByProducers = headSeenByProducers;
    this.head = head;
    int capacity = Math.max(2, Integer.highestOneBit(2 * room - 1));
    entries = new long[capacity << STRIDE_SHIFT];
    mask = capacity - 1;
  }

  /** Returns a ring with twice the capacity for the same queue, to {@link #follow} this one. */
  CompletionRing successor() {
    return new CompletionRing(2 * (mask + 1), tail, headSeenByProducers, head);
  }

  /**
   * Makes this ring the successor of another: entries that are claimed from now on are in this
   * ring. No producer claims until {@link #thaw}, which the caller calls once producers can find
   * this ring. So later claims see this ring, and entries claimed before are in the other ring,
   * whichever thread publishes them.
   *
   * @param alone whether the caller is the only producer, so that none has to be stopped
   */
  void follow(CompletionRing other, boolean alone) {
    previous = other;
    long end = tail.getOpaque();
    while (!alone && !tail.compareAndSet(end, end | FROZEN)) {
      end = tail.getOpaque();
    }
    base = end;
  }

  /** Lets producers claim again after {@link #follow}. */
  void thaw() {
    tail.setRelease(base);
  }

  /** Returns the number of entries that the ring may hold. */
  int room() {
    return room;
  }

  /** Sets the number of entries that the ring may hold, up to its capacity. */
  void limit(int most) {
    room = Math.min(most, mask + 1);
  }

  /**
   * Returns the number of entries that are claimed and not consumed; it may be outdated on return.
   */
  long held() {
    return (tail.getAcquire() & ~FROZEN) - head.getOpaque();
  }

  /** Returns the ring that contains a position: this one or an earlier one. */
  CompletionRing holding(long position) {
    return position >= base ? this : before(position);
  }

  private CompletionRing before(long position) {
    CompletionRing ring = this;
    for (CompletionRing next = previous; next != null && position < ring.base; ) {
      ring = next;
      next = ring.previous;
    }
    return ring;
  }

  /**
   * Claims the next entry, for a single producer.
   *
   * @return its position, which the caller must publish soon, or {@link #OVERRUN} if the ring is
   *     full
   */
  public long claimAlone() {
    long position = tail.getOpaque();
    if (isFull(position)) {
      return OVERRUN;
    }
    tail.setOpaque(position + 1);
    return position;
  }

  /** Does the same as {@link #claimAlone}, for several producers. */
  public long claim() {
    int spins = 0;
    while (true) {
      long position = tail.getOpaque();
      if (position < 0) {
        Ownership.pause(spins++);
      } else if (isFull(position)) {
        return OVERRUN;
      } else if (tail.compareAndSet(position, position + 1)) {
        return position;
      }
    }
  }

  private boolean isFull(long position) {
    if (position - headSeenByProducers.getAcquire() < room) {
      return false;
    }
    long seen = head.getAcquire();
    headSeenByProducers.setRelease(seen);
    return position - seen >= room;
  }

  /** Fills a claimed entry and makes it visible to the consumer. */
  public void publish(long position, CompletionEntry completion) {
    long[] ring = entries;
    int at = ((int) position & mask) << STRIDE_SHIFT;
    long packed = completion.packed();
    ring[at + ID] = completion.id();
    ring[at + PACKED] = packed;
    ring[at + DETAIL] =
        (long) completion.byteLength() << 32 | (completion.immediate() & 0xffff_ffffL);
    ring[at + FREES] = completion.frees();
    if ((packed & WorkCompletion.GRH) != 0) {
      ring[at + SOURCE] = completion.sourceQueuePair();
    }
    ENTRY.setRelease(ring, at, position + 1);
  }

  /** Returns the position of the next entry to consume. */
  public long head() {
    return head.getOpaque();
  }

  /** Returns whether the entry at {@code position} is published. Called by the consumer. */
  public boolean isPublished(long position) {
    return (long) ENTRY.getAcquire(entries, ((int) position & mask) << STRIDE_SHIFT)
        == position + 1;
  }

  /**
   * Frees all entries before {@code position}, the last of which is in this ring. Called by the
   * consumer.
   */
  void consumed(long position) {
    head.setRelease(position);
    if (previous != null && position > base) {
      previous = null;
    }
  }

  /**
   * Returns the index of the entry at {@code position}, for the methods below. Called by the
   * consumer.
   */
  public int at(long position) {
    return ((int) position & mask) << STRIDE_SHIFT;
  }

  /** Reads the entry at an index from {@link #at}. Called by the consumer. */
  public void read(int at, WorkCompletion into) {
    long[] ring = entries;
    long packed = ring[at + PACKED];
    int status = (int) (packed >>> STATUS_SHIFT) & 0xff;
    int queuePairNumber = (int) (packed >>> QPN_SHIFT);
    long detail = ring[at + DETAIL];
    if (status == 0) {
      into.set(
          ring[at + ID],
          CompletionOpcode.of((int) (packed >>> OPCODE_SHIFT) & 0xff),
          (int) (detail >>> 32),
          (int) detail,
          queuePairNumber,
          (packed & WorkCompletion.GRH) == 0 ? 0 : (int) ring[at + SOURCE],
          (int) packed & 0xff);
    } else {
      into.setError(
          ring[at + ID], CompletionStatus.of(status), (int) (detail >>> 32), queuePairNumber);
    }
  }

  int attachment(int at) {
    return (int) (entries[at + PACKED] >>> ATTACHMENT_SHIFT) & 0xffff;
  }

  boolean isReceive(int at) {
    return ((int) (entries[at + PACKED] >>> OPCODE_SHIFT) & 0x80) != 0;
  }

  long frees(int at) {
    return entries[at + FREES];
  }
}
