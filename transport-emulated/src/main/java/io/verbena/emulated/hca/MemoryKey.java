// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * What a key opens, and to whom: the entry of a region, or of a window bound to one, in the HCA's
 * translation and protection table. Windows and regions are looked up and checked alike, so that
 * the data path knows no difference.
 *
 * <p>A region's entry never changes, it only dies. A window's is used again for each bind, when
 * nobody can be reading it any more: see {@link #show}. Changes are made under the monitor of the
 * device's {@link KeyTable}.
 *
 * <p>Memory that its owner took back while it was registered answers with an exception or an error:
 * it was freed, other threads cannot reach it, or its file was truncated. Callers of {@link #read},
 * {@link #write} and the atomics catch both.
 */
public final class MemoryKey {
  /** The right to read with local requests, which regions always give and windows never do. */
  public static final int LOCAL_READ = 1 << 31;

  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private static final ByteBuffer NOTHING = ByteBuffer.allocateDirect(0);

  /** The upper 24 bits of all keys that this entry ever has: where it stands in the table. */
  final int index;

  final Holder holder;
  private ByteBuffer memory = NOTHING;
  private int value;
  private int rights;
  private long address;
  private long base;
  private int length;

  /** The domain within which it may be used, or the one queue pair through which it may be. */
  private @Nullable Object scope;

  private volatile boolean alive;

  /** Whose key it is. */
  interface Holder {
    /**
     * For the owner of a queue pair's send queue: ends the life of its key, and returns when nobody
     * uses it any more.
     *
     * @param key the key that is to be invalidated
     * @param by the queue pair that was told to
     * @param remotely by its peer, with a SEND_WITH_INV
     * @return whether it could be
     */
    boolean invalidate(int key, EmulatedQueuePair by, boolean remotely);
  }

  /** The entry of a window, which opens nothing yet. */
  MemoryKey(Holder holder, int value) {
    this.holder = holder;
    this.value = value;
    index = index(value);
  }

  /** The entry of a region. */
  MemoryKey(
      Holder holder,
      int value,
      EmulatedProtectionDomain domain,
      ByteBuffer memory,
      long address,
      int rights) {
    this(holder, value);
    this.memory = memory.order(ByteOrder.nativeOrder());
    this.rights = rights | LOCAL_READ;
    this.address = address;
    base = address;
    length = memory.capacity();
    scope = domain;
    alive = true;
  }

  /** The part of a key that says which entry it belongs to; the other 8 bits change with binds. */
  static int index(int key) {
    return key >>> Byte.SIZE;
  }

  /** The memory of the region, in which {@link #offset} finds an address. */
  public ByteBuffer memory() {
    return memory;
  }

  /** The key itself, or the one that it was as long as it lived. */
  public int value() {
    return value;
  }

  /** Where it begins, in the addresses of the device. */
  public long address() {
    return address;
  }

  int length() {
    return length;
  }

  boolean isAlive() {
    return alive;
  }

  /**
   * Whether this key opens the entry now. Life is looked at first: whoever sees a window's entry
   * alive sees what it was bound to, and not what it was before.
   */
  boolean isOpenedBy(int key) {
    return alive && value == key;
  }

  /**
   * Whether {@code bytes} bytes from {@code from} on may be used with all the rights of {@code
   * needed} through a queue pair of a domain.
   */
  boolean permits(
      EmulatedQueuePair pair, EmulatedProtectionDomain domain, long from, long bytes, int needed) {
    return isOpenTo(pair, domain) && gives(needed) && contains(from, bytes);
  }

  /** Whether it may be used through a queue pair of a domain, for whatever. */
  boolean isOpenTo(EmulatedQueuePair pair, EmulatedProtectionDomain domain) {
    Object to = scope;
    return to == domain || to == pair;
  }

  /** Whether it gives all the rights of {@code needed}. */
  public boolean gives(int needed) {
    return (rights & needed) == needed;
  }

  /** Whether {@code bytes} bytes from {@code from} on lie in it. */
  public boolean contains(long from, long bytes) {
    long offset = from - address;
    return offset >= 0 && offset <= length - bytes;
  }

  /** Where in {@link #memory()} the byte at an address stands. */
  public int offset(long at) {
    return (int) (at - base);
  }

  /** Copies the bytes from an address on into a buffer. */
  public void read(long from, ByteBuffer into, int intoOffset, int bytes) {
    into.put(intoOffset, memory, offset(from), bytes);
  }

  /** Copies the bytes of a buffer to an address. */
  public void write(long to, ByteBuffer from, int fromOffset, int bytes) {
    memory.put(offset(to), from, fromOffset, bytes);
  }

  /** Returns what was at an address before, as an atomic of the HCA does. */
  public long compareAndSwap(long at, long expected, long swap) {
    return (long) LONG.compareAndExchange(memory, offset(at), expected, swap);
  }

  /** Likewise. */
  public long fetchAndAdd(long at, long addend) {
    return (long) LONG.getAndAdd(memory, offset(at), addend);
  }

  /** Gives a window's entry, which is dead and nobody uses any more, the low 8 bits of a key. */
  void rename(int tag) {
    value = index << Byte.SIZE | (tag & 0xff);
  }

  /**
   * Makes such an entry live again.
   *
   * @param to a domain or a queue pair, see {@link #scope}
   * @param region of whose memory it shows a part
   * @param granted rights of peers
   */
  void show(Object to, MemoryKey region, long from, int bytes, int granted) {
    scope = to;
    memory = region.memory;
    base = region.base;
    address = from;
    length = bytes;
    rights = granted;
    alive = true;
  }

  /** Ends its life; those who found it before may still be using it. */
  void kill() {
    alive = false;
  }
}
