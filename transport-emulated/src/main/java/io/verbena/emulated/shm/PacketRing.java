// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.emulated.mapped.PayloadReference;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Packets from one process to another, in memory that both have mapped. For one writer and one
 * reader.
 *
 * <pre>
 *  0      128                  192
 *  |      | read (8)           | records ...          native byte order
 *
 *  a record, at a multiple of 64:  | length | tag | bytes, up to the next multiple of 64 |
 *  to be skipped, to the end:      | -1     |
 *  not written yet:                | 0      |
 *
 *  the bytes of a record whose payload lies in a slab, marked by the highest bit of the tag:
 *   0 state | 4 slab | 8 offset | 12 bytes of payload | 16 key | 20 queue pair | 24 headers
 * </pre>
 *
 * <p>The writer publishes a record by its length, which it stores last, with release, after it has
 * stored a 0 where the next length will be. So the reader, which looks at the length of the next
 * record, needs one cache line of the writer less than with a counter. By {@code read}, which only
 * grows, the reader frees the room of a record. Records begin with a cache line each, so that a
 * small packet has as few lines as possible, and the writer {@linkplain #prepare takes} those of
 * the next record before it needs them.
 *
 * <p>Payload in a slab belongs to the writer until the reader has copied it. The writer may
 * withdraw the payload at any time, and the reader confirms its copy: each tries to change the
 * state from OPEN, and only the first succeeds. So neither ever waits for the other. The room of
 * such a record is freed when the reader has {@linkplain #release released} the record.
 *
 * <p>The other process is not trusted: an impossible record makes the reader throw a {@link
 * CorruptRingException}.
 */
final class PacketRing implements PayloadReference.Confirmation {
  /** Bytes in front of the records. */
  static final int HEADER = 192;

  /** The result of {@link #read} if there is no packet. */
  static final int EMPTY = -1;

  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final VarHandle OWN;

  static {
    try {
      OWN = MethodHandles.lookup().findVarHandle(PacketRing.class, "own", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final int READ = 128;
  private static final int RECORD_HEADER = 8;
  private static final int TAG = 4;
  private static final int SKIP = -1;
  private static final int NOT_WRITTEN = 0;

  /** The length of a cache line. */
  private static final int LINE = 64;

  /** The most lines that {@link #prepare} takes. */
  private static final int MOST_PREPARED = 4;

  private static final VarHandle INT =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

  /** The bit of a tag that marks payload in a slab. */
  private static final int REFERS = 1 << 31;

  private static final int SLAB = 4;
  private static final int OFFSET = 8;
  private static final int PAYLOAD = 12;
  private static final int KEY = 16;
  private static final int QUEUE_PAIR = 20;
  private static final int REFERENCE = 24;

  // The states of a record whose payload lies in a slab.
  private static final int OPEN = 0;
  private static final int COPIED = 1;
  private static final int WITHDRAWN = 2;

  private final ByteBuffer memory;
  private final int capacity;

  /** This end's own counter. */
  private long own;

  /** Writer: the last value seen of the reader's counter. */
  private long others;

  /** Writer: the index of the record to be skipped before the present one; else 0. */
  private int skipped;

  /** Writer: the size of the last record. */
  private int lastSize;

  private int tag;

  /** Reader: the index of the last record's bytes, if its payload lies in a slab; else 0. */
  private int referring;

  /** Reader: true until the room of that record is freed. */
  private boolean held;

  /**
   * @param memory {@link #HEADER} and a power of two bytes, all 0 when both ends begin
   */
  PacketRing(ByteBuffer memory) {
    this.memory = memory.order(ByteOrder.nativeOrder());
    capacity = memory.capacity() - HEADER;
    if (Integer.bitCount(capacity) != 1) {
      throw new IllegalArgumentException("capacity: " + capacity + " (expected: a power of two)");
    }
  }

  /**
   * Writer: appends the bytes between position and limit, at least one; returns false if there is
   * no room.
   */
  boolean write(int packetTag, ByteBuffer packet) {
    int at = begin(packet.remaining());
    if (at < 0) {
      return false;
    }
    end(at, packetTag, packet.remaining(), packet, 0);
    return true;
  }

  /**
   * Writer: appends a packet whose payload lies in a slab; returns false if there is no room.
   *
   * @param headers the packet's bytes before the payload, between position and limit
   * @param payload the number of bytes of payload
   */
  boolean write(int packetTag, ByteBuffer headers, int payload, PayloadReference where) {
    int length = REFERENCE + headers.remaining();
    int at = begin(length);
    if (at < 0) {
      return false;
    }
    int body = at + RECORD_HEADER;
    memory.putInt(body, OPEN);
    memory.putInt(body + SLAB, where.slab());
    memory.putInt(body + OFFSET, where.offset());
    memory.putInt(body + PAYLOAD, payload);
    memory.putInt(body + KEY, where.key());
    memory.putInt(body + QUEUE_PAIR, where.queuePair());
    end(at, packetTag | REFERS, length, headers, REFERENCE);
    return true;
  }

  /**
   * Writer: returns the index of a record of {@code length} bytes; -1 if there is no room for it
   * and for the length of the next one.
   */
  private int begin(int length) {
    int size = size(length);
    int at = (int) own & capacity - 1;
    int toEnd = capacity - at;
    int needed = RECORD_HEADER + (size <= toEnd ? size : toEnd + size);
    if (own + needed - others > capacity) {
      others = (long) LONG.getAcquire(memory, READ);
      if (own + needed - others > capacity) {
        return -1;
      }
    }
    if (size > toEnd) {
      skipped = HEADER + at;
      own += toEnd;
      at = 0;
    }
    return HEADER + at;
  }

  /** Writer: completes a record, and publishes it. */
  private void end(int at, int withTag, int length, ByteBuffer bytes, int from) {
    lastSize = size(length);
    own += lastSize;
    memory.putInt(HEADER + ((int) own & capacity - 1), NOT_WRITTEN);
    memory.putInt(at + TAG, withTag);
    memory.put(at + RECORD_HEADER + from, bytes, bytes.position(), length - from);
    INT.setRelease(memory, at, length);
    if (skipped != 0) {
      // Last: the reader that follows it finds the record.
      INT.setRelease(memory, skipped, SKIP);
      skipped = 0;
    }
  }

  /**
   * Writer: takes the cache lines that a record as long as the last one would need, while there is
   * nothing else to do; without the first line, at which the reader looks all the time. Otherwise a
   * record would not be visible before all its lines had come from the reader's CPU: some 70 ns.
   */
  void prepare() {
    int end = Math.min(lastSize, MOST_PREPARED * LINE);
    if (own + end + LINE - others > capacity) {
      return;
    }
    for (int ahead = LINE; ahead <= end; ahead += LINE) {
      memory.putInt(HEADER + ((int) own + ahead & capacity - 1), NOT_WRITTEN);
    }
  }

  /** Returns the bytes of a record whose packet has {@code length} bytes. */
  static int size(int length) {
    return RECORD_HEADER + length + LINE - 1 & -LINE;
  }

  /** Writer: withdraws the payload of a queue pair's requests that the reader has not copied. */
  void withdraw(int queuePair) {
    withdraw(QUEUE_PAIR, queuePair, -1);
  }

  /**
   * Writer: withdraws the payload that the reader has not copied, under keys that equal {@code key}
   * in the bits of {@code mask}.
   */
  void withdrawKeys(int key, int mask) {
    withdraw(KEY, key, mask);
  }

  /** Returns early if the reader has corrupted the ring: only that reader is affected. */
  private void withdraw(int field, int value, int mask) {
    long unread = (long) LONG.getAcquire(memory, READ);
    if (own - unread < 0 || own - unread > capacity || unread % LINE != 0) {
      return;
    }
    for (long next = unread; next - own < 0; ) {
      int at = (int) next & capacity - 1;
      int length = memory.getInt(HEADER + at);
      if (length == SKIP) {
        next += capacity - at;
        continue;
      }
      boolean refers = memory.getInt(HEADER + at + TAG) < 0;
      if (length < (refers ? REFERENCE : 0) || length > capacity - at - RECORD_HEADER) {
        return;
      }
      int body = HEADER + at + RECORD_HEADER;
      if (refers && ((memory.getInt(body + field) ^ value) & mask) == 0) {
        INT.compareAndSet(memory, body, OPEN, WITHDRAWN);
      }
      next += size(length);
    }
  }

  /**
   * Reader: returns whether there is a packet. May be called while another thread reads: then it
   * may report a packet that the other thread has just read, which also takes what has come since.
   */
  boolean isReadable() {
    int at = (int) (long) OWN.getOpaque(this) & capacity - 1;
    return (int) INT.getAcquire(memory, HEADER + at) != NOT_WRITTEN;
  }

  /**
   * Reader: releases the packet read last, and copies the next one to the buffer's position, which
   * does not change.
   *
   * @return the number of bytes copied, or {@link #EMPTY}
   * @throws CorruptRingException if the writer wrote an impossible value
   */
  int read(ByteBuffer into) {
    release();
    long next = own;
    int at = (int) next & capacity - 1;
    int length = (int) INT.getAcquire(memory, HEADER + at);
    if (length == NOT_WRITTEN) {
      return EMPTY;
    }
    if (length == SKIP && at != 0) {
      next += capacity - at;
      at = 0;
      length = (int) INT.getAcquire(memory, HEADER);
    }
    int most = Math.min(into.remaining() + RECORD_HEADER, capacity - at);
    if (length <= 0 || length > most - RECORD_HEADER) {
      throw new CorruptRingException("length of a record", length, most - RECORD_HEADER);
    }
    int tagged = memory.getInt(HEADER + at + TAG);
    tag = tagged & ~REFERS;
    held = tagged < 0;
    referring = held ? HEADER + at + RECORD_HEADER : 0;
    int before = held ? REFERENCE : 0;
    if (length < before) {
      throw new CorruptRingException("length of a record", length, most - RECORD_HEADER);
    }
    into.put(into.position(), memory, HEADER + at + RECORD_HEADER + before, length - before);
    next += size(length);
    OWN.setOpaque(this, next);
    if (!held) {
      LONG.setRelease(memory, READ, next);
    }
    return length - before;
  }

  /** Reader: returns whether the payload of the packet read last lies in a slab. */
  boolean refers() {
    return referring != 0;
  }

  /** Reader: returns whether the payload of the packet read last was withdrawn already. */
  boolean isWithdrawn() {
    return (int) INT.getAcquire(memory, referring) != OPEN;
  }

  int slab() {
    return memory.getInt(referring + SLAB);
  }

  int offset() {
    return memory.getInt(referring + OFFSET);
  }

  int payload() {
    return memory.getInt(referring + PAYLOAD);
  }

  /** Reader: confirms that the payload of the packet read last was copied. */
  @Override
  public boolean confirm() {
    return held && INT.compareAndSet(memory, referring, OPEN, COPIED);
  }

  /** Reader: frees the room of the packet read last. Idempotent. */
  void release() {
    if (held) {
      held = false;
      LONG.setRelease(memory, READ, own);
    }
  }

  /** Reader: returns the tag of the packet read last. */
  int tag() {
    return tag;
  }
}
