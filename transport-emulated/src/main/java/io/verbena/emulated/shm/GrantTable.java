// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.emulated.mapped.PayloadReference;
import io.verbena.emulated.mapped.ReadGrant;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The memory that a host lets its peers read without a packet: a hash table of grants, in memory
 * that the peers have mapped. A key and a queue pair have one place in the table.
 *
 * <pre>
 *  0        8           12      16                    24   28    32       40      44
 *  version  queue pair  reader  low bits of its GID   key  slab  address  length  offset
 * </pre>
 *
 * A grant is valid while its version is odd. The owner changes the version before it changes the
 * entry, and before the memory can be used for something else. A peer that finds the same version
 * before and after its copy has copied the granted bytes (a sequence lock).
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

  /** The number of places of one key, for different queue pairs. */
  static final int PLACES = 16;

  private static final int TOP_BITS =
      Integer.SIZE - Integer.numberOfTrailingZeros(ENTRIES / PLACES);

  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private final ByteBuffer memory;

  // The grant found last.
  private int foundAt;
  private long foundVersion;
  private int slab;
  private int offset;

  /**
   * Wraps a table in memory of {@link #LENGTH} bytes, aligned to a cache line and zeroed before the
   * first use.
   */
  GrantTable(ByteBuffer memory) {
    this.memory = memory.order(ByteOrder.nativeOrder());
  }

  /** Returns the first of the {@link #PLACES} places of a key; the key's tag does not matter. */
  static int firstPlace(int key) {
    return (((key >>> Byte.SIZE) * 0x9E3779B9) >>> TOP_BITS) * PLACES;
  }

  /** Returns the place of a grant. */
  static int place(int queuePair, int key) {
    return firstPlace(key) + queuePair % PLACES;
  }

  /** Owner: ends the grant at a place; {@code version} is the next one of the place. */
  void revoke(int place, long version) {
    LONG.setOpaque(memory, place * ENTRY, version);
    // Orders later writes of the owner's program to the memory after the new version.
    VarHandle.fullFence();
  }

  /**
   * Owner: writes a grant to a place without a valid one; {@code version} is the next one of the
   * place.
   */
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
   * Peer: returns whether a range is granted; if so, {@link #slab} and {@link #offset} return its
   * place. The caller must check these values: the owner may change the entry at the same time.
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

  /** {@inheritDoc} That is, whether the grant found last has been valid since then. */
  @Override
  public boolean confirm() {
    // Orders the reads of the copied bytes before the read of the version.
    VarHandle.acquireFence();
    return (long) LONG.getOpaque(memory, foundAt) == foundVersion;
  }
}
