// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Packets from one process to another, in memory that both have mapped. One writes, one reads.
 *
 * <pre>
 *  0      64                   128                  192
 *  |      | written (8)        | read (8)           | records ...          native byte order
 *
 *  a record, at a multiple of 8:   | length | tag | bytes, up to the next multiple of 8 |
 *  to be skipped, to the end:      | -1     |
 * </pre>
 *
 * <p>Both counters only grow. The writer publishes a record by {@code written} and the reader gives
 * its room back by {@code read}, each with a release that the other's acquire meets. The other
 * process is not trusted: an impossible record throws a {@link CorruptRingException}.
 */
final class PacketRing {
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

  private static final int WRITTEN = 64;
  private static final int READ = 128;
  private static final int RECORD_HEADER = 8;
  private static final int TAG = 4;
  private static final int SKIP = -1;

  private final ByteBuffer memory;
  private final int capacity;

  /** This end's own counter, and the value of the other's that it last saw. */
  private long own;

  private long others;
  private int tag;

  /**
   * @param memory {@link #HEADER} and a power of two bytes, all of them 0 when both ends begin
   */
  PacketRing(ByteBuffer memory) {
    this.memory = memory.order(ByteOrder.nativeOrder());
    capacity = memory.capacity() - HEADER;
    if (Integer.bitCount(capacity) != 1) {
      throw new IllegalArgumentException("capacity: " + capacity + " (expected: a power of two)");
    }
  }

  /** Writer: appends the bytes between position and limit; false if there is no room. */
  boolean write(int packetTag, ByteBuffer packet) {
    int length = packet.remaining();
    int size = RECORD_HEADER + (length + 7 & ~7);
    int at = (int) own & capacity - 1;
    int toEnd = capacity - at;
    int needed = size <= toEnd ? size : toEnd + size;
    if (own + needed - others > capacity) {
      others = (long) LONG.getAcquire(memory, READ);
      if (own + needed - others > capacity) {
        return false;
      }
    }
    if (size > toEnd) {
      memory.putInt(HEADER + at, SKIP);
      at = 0;
    }
    memory.putInt(HEADER + at, length);
    memory.putInt(HEADER + at + TAG, packetTag);
    memory.put(HEADER + at + RECORD_HEADER, packet, packet.position(), length);
    own += needed;
    LONG.setRelease(memory, WRITTEN, own);
    return true;
  }

  /**
   * Reader: returns whether there is a packet. May be called while another thread reads, whose
   * counter is never ahead of the value seen here: so this may report a packet that has been read,
   * but misses none.
   */
  boolean isReadable() {
    return (long) LONG.getAcquire(memory, WRITTEN) != (long) OWN.getOpaque(this);
  }

  /**
   * Reader: copies the next packet to the buffer's position, which stays.
   *
   * @return its length, or {@link #EMPTY}
   * @throws CorruptRingException if the writer broke the rules
   */
  int read(ByteBuffer into) {
    if (own == others) {
      others = (long) LONG.getAcquire(memory, WRITTEN);
      if (own == others) {
        return EMPTY;
      }
      if (others - own < 0 || others - own > capacity) {
        throw new CorruptRingException("bytes written", others - own, capacity);
      }
    }
    long next = own;
    int at = (int) next & capacity - 1;
    int length = memory.getInt(HEADER + at);
    if (length == SKIP && at != 0) {
      next += capacity - at;
      at = 0;
      length = memory.getInt(HEADER);
    }
    int most = (int) Math.min(into.remaining(), Math.min(others - next, capacity - at));
    if (length < 0 || length > most - RECORD_HEADER) {
      throw new CorruptRingException("length of a record", length, most - RECORD_HEADER);
    }
    tag = memory.getInt(HEADER + at + TAG);
    into.put(into.position(), memory, HEADER + at + RECORD_HEADER, length);
    next += RECORD_HEADER + (length + 7 & ~7);
    OWN.setOpaque(this, next);
    LONG.setRelease(memory, READ, next);
    return length;
  }

  /** Reader: returns the tag of the packet read last. */
  int tag() {
    return tag;
  }
}
