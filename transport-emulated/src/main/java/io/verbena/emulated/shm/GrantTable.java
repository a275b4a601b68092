// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.emulated.roce.PayloadReference;
import io.verbena.emulated.roce.ReadGrant;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What a host lets its peers read by themselves, in memory that they have mapped: a hash table,
 * where a key and a queue pair have one place.
 *
 * <pre>
 *  0        8           12      16                    24   28    32       40      44
 *  version  queue pair  reader  low bits of its GID   key  slab  address  length  offset
 * </pre>
 *
 * An entry holds while its version is odd. The owner changes the version before it changes the
 * entry, and before the memory can be used for something else; a peer that finds the same version
 * before and after it has copied has copied what it was granted (a sequence lock).
 */
final class GrantTable implements PayloadReference.Confirmation {
  static final int ENTRIES = 256;
  private static final int ENTRY = 64;
  static final int LENGTH = ENTRIES * ENTRY;

  private static final int QUEUE_PAIR = 8;
  private static final int READER = 12;
  private static final int GID = 16;
  private static final int KEY = 24;
  private static final int SLAB = 28;
  private static final int ADDRESS = 32;
  private static final int BYTES = 40;
  private static final int OFFSET = 44;

  /** The places of one key, for different queue pairs. */
  static final int PLACES = 16;

  private static final int TOP_BITS =
      Integer.SIZE - Integer.numberOfTrailingZeros(ENTRIES / PLACES);

  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private final ByteBuffer memory;

  // Of the grant found last.
  private int foundAt;
  private long foundVersion;
  private int slab;
  private int offset;

  /** A table in memory of {@link #LENGTH} bytes, on a cache line, zero before its first use. */
  GrantTable(ByteBuffer memory) {
    this.memory = memory.order(ByteOrder.nativeOrder());
  }

  /** Returns the first of the {@link #PLACES} places of a key, whatever its tag. */
  static int firstPlace(int key) {
    return (((key >>> Byte.SIZE) * 0x9E3779B9) >>> TOP_BITS) * PLACES;
  }

  /** Returns the place of a grant. */
  static int place(int queuePair, int key) {
    return firstPlace(key) + queuePair % PLACES;
  }

  /** Owner: ends the grant at a place, by the next version. */
  void revoke(int place, long version) {
    LONG.setOpaque(memory, place * ENTRY, version);
    // What the owner's program writes to the memory now is written after this.
    VarHandle.fullFence();
  }

  /** Owner: grants at a place where no grant holds, by the next version. */
  void grant(int place, long version, long reader, ReadGrant what) {
    int at = place * ENTRY;
    memory
        .putInt(at + QUEUE_PAIR, what.queuePair())
        .putInt(at + READER, what.readerQueuePair())
        .putLong(at + GID, reader)
        .putInt(at + KEY, what.key())
        .putInt(at + SLAB, what.slab())
        .putLong(at + ADDRESS, what.address())
        .putInt(at + BYTES, what.length())
        .putInt(at + OFFSET, what.offset());
    LONG.setRelease(memory, at, version);
  }

  /**
   * Peer: finds a grant of a range; {@link #slab} and {@link #offset} tell where it lies. All of it
   * is to be doubted: another thread may be changing it.
   */
  boolean find(long reader, ReadGrant wanted) {
    int at = place(wanted.queuePair(), wanted.key()) * ENTRY;
    long version = (long) LONG.getAcquire(memory, at);
    if ((version & 1) == 0
        || memory.getInt(at + QUEUE_PAIR) != wanted.queuePair()
        || memory.getInt(at + READER) != wanted.readerQueuePair()
        || memory.getLong(at + GID) != reader
        || memory.getInt(at + KEY) != wanted.key()) {
      return false;
    }
    long skip = wanted.address() - memory.getLong(at + ADDRESS);
    int bytes = memory.getInt(at + BYTES);
    if (skip < 0 || wanted.length() > bytes || skip > bytes - wanted.length()) {
      return false;
    }
    foundAt = at;
    foundVersion = version;
    slab = memory.getInt(at + SLAB);
    offset = memory.getInt(at + OFFSET) + (int) skip;
    return true;
  }

  /** Peer: returns the slab of the range found last. */
  int slab() {
    return slab;
  }

  /** Peer: returns the index in its slab of the range found last. */
  int offset() {
    return offset;
  }

  /** {@inheritDoc} That is, whether the grant found last has held since. */
  @Override
  public boolean confirm() {
    // What was copied was read before this.
    VarHandle.acquireFence();
    return (long) LONG.getOpaque(memory, foundAt) == foundVersion;
  }
}
