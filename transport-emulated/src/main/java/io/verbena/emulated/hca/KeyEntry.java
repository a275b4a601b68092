// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.emulated.mapped.PayloadReference;
import io.verbena.emulated.mapped.ReadGrant;
import io.verbena.emulated.mapped.SharedPlace;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * An entry of the HCA's translation and protection table: the memory that the key of a region, or
 * of a window bound to one, opens, and the domain or queue pair that may use it. Windows and
 * regions are looked up and checked in the same way, so that the data path does not distinguish
 * them.
 *
 * <p>A region's entry never changes until it is killed. A window's entry is reused for each bind,
 * when no thread can be reading it any more: see {@link #show}. Entries change under the monitor of
 * the device's {@link KeyTable}.
 *
 * <p>Access to memory throws an exception or an error if, while it was registered, the memory was
 * freed, other threads lost access to it, or its file was truncated. Callers of {@link #read},
 * {@link #write} and the atomics catch both.
 */
public final class KeyEntry {
  /** The right to read with local requests, which regions always give and windows never do. */
  public static final int LOCAL_READ = 1 << 31;

  /** The bits of a key that identify the entry. */
  public static final int INDEX = -1 << Byte.SIZE;

  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private static final ByteBuffer NOTHING = ByteBuffer.allocateDirect(0);

  /** The upper 24 bits of all keys that this entry ever has, which give its place in the table. */
  final int index;

  final Holder holder;
  private ByteBuffer memory = NOTHING;

  /** Where {@link #memory} lies in memory that peers can map; null if it does not. */
  private @Nullable SharedPlace place;

  private int value;
  private int rights;
  private long address;
  private long base;
  private int length;

  /** The domain within which it may be used, or the only queue pair through which it may be. */
  private @Nullable Object scope;

  private volatile boolean alive;

  /** The region or window that has a key. */
  interface Holder {
    /**
     * Invalidates the key, and returns when no thread uses it any more. Called by the owner of a
     * queue pair's send queue.
     *
     * @param key the key that is to be invalidated
     * @param by the queue pair that invalidates it
     * @param remotely whether its peer does so, with a SEND_WITH_INV
     * @return whether the key could be invalidated
     */
    boolean invalidate(int key, EmulatedQueuePair by, boolean remotely);
  }

  /** Creates the entry of a window, which opens no memory yet. */
  KeyEntry(Holder holder, int value) {
    this.holder = holder;
    this.value = value;
    index = index(value);
  }

  /** Creates the entry of a region. */
  KeyEntry(
      Holder holder,
      int value,
      EmulatedProtectionDomain domain,
      ByteBuffer memory,
      @Nullable SharedPlace place,
      long address,
      int rights) {
    this(holder, value);
    this.memory = memory.order(ByteOrder.nativeOrder());
    this.place = place;
    this.rights = rights | LOCAL_READ;
    this.address = address;
    base = address;
    length = memory.capacity();
    scope = domain;
    alive = true;
  }

  /** Returns the part of a key that identifies the entry; the other 8 bits change with binds. */
  static int index(int key) {
    return key >>> Byte.SIZE;
  }

  /** Returns the memory of the region, in which {@link #offset} finds an address. */
  public ByteBuffer memory() {
    return memory;
  }

  /** Returns the key itself, or the last one if the entry is dead. */
  public int value() {
    return value;
  }

  /** Returns the device address of its first byte. */
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
   * Returns whether this key opens the entry now. Reads {@link #alive} first: a thread that sees a
   * window's entry alive sees its present bind, not an earlier one.
   */
  boolean isOpenedBy(int key) {
    return alive && value == key;
  }

  /**
   * Returns whether {@code bytes} bytes from {@code from} on may be used with all rights of {@code
   * needed} through a queue pair of a domain.
   */
  boolean permits(
      EmulatedQueuePair pair, EmulatedProtectionDomain domain, long from, long bytes, int needed) {
    return isOpenTo(pair, domain) && gives(needed) && contains(from, bytes);
  }

  /**
   * Returns whether the entry may be used through a queue pair of a domain, regardless of rights.
   */
  boolean isOpenTo(EmulatedQueuePair pair, EmulatedProtectionDomain domain) {
    Object to = scope;
    return to == domain || to == pair;
  }

  /** Returns whether the entry gives all rights of {@code needed}. */
  public boolean gives(int needed) {
    return (rights & needed) == needed;
  }

  /** Returns whether the entry contains {@code bytes} bytes from {@code from} on. */
  public boolean contains(long from, long bytes) {
    long offset = from - address;
    return offset >= 0 && offset <= length - bytes;
  }

  /** Returns the index in {@link #memory()} of the byte at an address. */
  public int offset(long at) {
    return (int) (at - base);
  }

  /** Returns whether peers can map its memory. */
  boolean isShared() {
    return place != null;
  }

  /** Returns whether a key is one that this entry has, has had or may have in the future. */
  public boolean is(int key) {
    return index(key) == index;
  }

  /**
   * Fills a reference to the bytes from an address on, for a peer to copy.
   *
   * @param by the key by which the bytes are used
   * @return false if peers cannot map the memory
   */
  public boolean refer(long from, int by, PayloadReference to) {
    SharedPlace at = place;
    if (at == null) {
      return false;
    }
    to.place(at.slab(), at.offset() + offset(from), by);
    return true;
  }

  /**
   * Fills a grant of all memory that the entry opens, for a peer to read.
   *
   * @param by the key by which the memory is read
   * @return false if peers cannot map the memory
   */
  public boolean grant(int by, ReadGrant to) {
    SharedPlace at = place;
    if (at == null) {
      return false;
    }
    to.range(by, address, length).place(at.slab(), at.offset() + offset(address));
    return true;
  }

  /** Copies bytes from an address on into a buffer. */
  public void read(long from, ByteBuffer into, int intoOffset, int bytes) {
    into.put(intoOffset, memory, offset(from), bytes);
  }

  /** Copies the bytes of a buffer to an address. */
  public void write(long to, ByteBuffer from, int fromOffset, int bytes) {
    memory.put(offset(to), from, fromOffset, bytes);
  }

  /**
   * Does an atomic compare-and-swap on 8 aligned bytes in native order; returns the previous value.
   */
  public long compareAndSwap(long at, long expected, long swap) {
    return (long) LONG.compareAndExchange(memory, offset(at), expected, swap);
  }

  /** Does an atomic add on 8 aligned bytes in native order; returns the previous value. */
  public long fetchAndAdd(long at, long addend) {
    return (long) LONG.getAndAdd(memory, offset(at), addend);
  }

  /** Sets the low 8 bits of the key of a window's entry, which is dead and not used any more. */
  void rename(int tag) {
    value = index << Byte.SIZE | (tag & 0xff);
  }

  /**
   * Makes a renamed entry of a window alive again.
   *
   * @param to a domain or a queue pair, see {@link #scope}
   * @param region the region of whose memory it shows a part
   * @param granted rights of peers
   */
  void show(Object to, KeyEntry region, long from, int bytes, int granted) {
    scope = to;
    memory = region.memory;
    place = region.place;
    base = region.base;
    address = from;
    length = bytes;
    rights = granted;
    alive = true;
  }

  /** Kills the entry; threads that found it before may still be using it. */
  void kill() {
    alive = false;
  }
}
