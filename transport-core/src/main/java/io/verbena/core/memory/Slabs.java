// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import static io.verbena.core.memory.SizeClasses.LARGEST;

import io.verbena.MemoryLimitException;
import io.verbena.verbs.Access;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The buffers of registered memory, each bound to a block of a slab: free ones by size class, and
 * the slabs that new ones are cut from. Longer ones than a slab is cut into have one of their own.
 * Thread-safe; takes a lock only to make a new buffer, and for the long ones.
 */
final class Slabs {
  private static final int MOST_IN_SLAB = 4 << 20;
  private static final int LEAST_IN_SLAB = 16 << 10;
  private static final int ALIGNMENT = 4096;
  private static final String ALLOCATE = "allocate";

  private final RegisteredMemory owner;
  private final int slabLength;
  private final List<StripedStack<RegisteredByteBuf>> free = new ArrayList<>(SizeClasses.COUNT);
  private final LargeBuffers freeLarge;

  /** Guards the fields below, and registering and deregistering of slabs. */
  private final ReentrantLock growth = new ReentrantLock();

  private final List<Slab> slabs = new ArrayList<>();
  private final List<Slab> slabsWithRoom = new ArrayList<>();
  private volatile boolean closed;

  /**
   * @param owner has the limit and the domain
   * @param limit the most registered bytes
   * @param maxRegionLength the most bytes that the HCA takes in one region
   */
  Slabs(RegisteredMemory owner, long limit, long maxRegionLength) {
    this.owner = owner;
    long fair = Math.min(Math.max(limit >> 4, LEAST_IN_SLAB), MOST_IN_SLAB);
    slabLength = (int) Long.highestOneBit(Math.min(fair, maxRegionLength));
    freeLarge = new LargeBuffers(limit >> 2);
    for (int i = 0; i < SizeClasses.COUNT; i++) {
      free.add(new StripedStack<>());
    }
  }

  /**
   * Returns a free buffer whose block holds at least this many bytes; the caller {@linkplain
   * RegisteredByteBuf#begin begins} it.
   *
   * @throws MemoryLimitException at the limit, or at the JVM's own for direct memory
   */
  RegisteredByteBuf take(int length) {
    if (length > LARGEST) {
      RegisteredByteBuf large = freeLarge.take(length);
      return large != null ? large : makeLarge(length);
    }
    int sizeClass = SizeClasses.of(length);
    RegisteredByteBuf buffer = free.get(sizeClass).pop();
    return buffer != null ? buffer : make(sizeClass);
  }

  /** Takes back a buffer that nobody uses any more. */
  void give(RegisteredByteBuf buffer) {
    Block block = buffer.block();
    if (block.length > LARGEST) {
      freeLarge.give(buffer);
    } else {
      free.get(SizeClasses.of(block.length)).push(buffer);
    }
    if (closed) {
      clear();
    }
  }

  /** Deregisters the slabs that no buffer in use lies in. */
  void giveUpIdle() {
    freeLarge.clear();
    growth.lock();
    try {
      List<RegisteredByteBuf> idle = new ArrayList<>();
      for (StripedStack<RegisteredByteBuf> stack : free) {
        stack.drainTo(idle);
      }
      slabs.forEach(Slab::clearIdle);
      idle.forEach(buffer -> buffer.block().slab.countIdle());
      slabs.removeIf(Slabs::closeIfIdle);
      slabsWithRoom.removeIf(slab -> !slab.isOpen());
      for (RegisteredByteBuf buffer : idle) {
        if (buffer.block().slab.isOpen()) {
          give(buffer);
        }
      }
    } finally {
      growth.unlock();
    }
  }

  private static boolean closeIfIdle(Slab slab) {
    if (slab.isIdle()) {
      slab.close();
      return true;
    }
    return false;
  }

  /** Drops the free buffers and makes no new ones. Their owner closes the registrations. */
  void close() {
    closed = true;
    clear();
  }

  private void clear() {
    freeLarge.clear();
    List<RegisteredByteBuf> dropped = new ArrayList<>();
    for (StripedStack<RegisteredByteBuf> stack : free) {
      stack.drainTo(dropped);
    }
  }

  private RegisteredByteBuf make(int sizeClass) {
    growth.lock();
    try {
      RegisteredByteBuf freed = free.get(sizeClass).popSurely();
      if (freed != null) {
        return freed;
      }
      Block block = cut(SizeClasses.length(sizeClass));
      return block != null ? newBuffer(block) : takeLonger(sizeClass);
    } finally {
      growth.unlock();
    }
  }

  /** Takes any free block that holds the bytes, at the limit. */
  private RegisteredByteBuf takeLonger(int sizeClass) {
    for (int longer = sizeClass + 1; longer < SizeClasses.COUNT; longer++) {
      RegisteredByteBuf freed = free.get(longer).popSurely();
      if (freed != null) {
        return freed;
      }
    }
    throw owner.limit().reached(ALLOCATE, SizeClasses.length(sizeClass));
  }

  private RegisteredByteBuf newBuffer(Block block) {
    return new RegisteredByteBuf(owner.allocator(), this, block);
  }

  /** Cuts a block from a slab; returns null at the limit. */
  private @Nullable Block cut(int length) {
    checkOpen();
    for (int i = slabsWithRoom.size() - 1; i >= 0; i--) {
      Slab slab = slabsWithRoom.get(i);
      if (slab.hasRoom(length)) {
        return slab.cut(length);
      }
      if (!slab.hasRoom(SizeClasses.SMALLEST)) {
        slabsWithRoom.remove(i);
      }
    }
    Slab slab = newSlab(length);
    if (slab == null) {
      return null;
    }
    slabs.add(slab);
    slabsWithRoom.add(slab);
    return slab.cut(length);
  }

  /** Registers a slab; at the limit one that is only as long as it must be. */
  private @Nullable Slab newSlab(int length) {
    if (length <= slabLength && owner.limit().reserve(slabLength)) {
      return register(slabLength);
    }
    return owner.makeRoom(length) ? register(length) : null;
  }

  private RegisteredByteBuf makeLarge(int wanted) {
    checkOpen();
    int length = LargeBuffers.roundUp(wanted);
    owner.reserve(ALLOCATE, length);
    return newBuffer(register(length).cut(length));
  }

  /** Registers a slab of bytes that were reserved; returns them to the limit if that fails. */
  private Slab register(int length) {
    ByteBuffer memory;
    try {
      memory = allocate(length);
    } catch (OutOfMemoryError e) {
      owner.limit().giveBack(length);
      throw new MemoryLimitException(
          ALLOCATE,
          null,
          "bytes: " + length + " (expected: direct memory left within -XX:MaxDirectMemorySize)",
          e);
    }
    return new Slab(
        memory,
        owner.registrations().register(ALLOCATE, memory, Set.of(Access.LOCAL_WRITE), length));
  }

  /** Allocates memory that begins on a page, so that the HCA locks no more pages than it must. */
  private static ByteBuffer allocate(int length) {
    if (length > Integer.MAX_VALUE - ALIGNMENT) {
      return ByteBuffer.allocateDirect(length);
    }
    ByteBuffer memory = ByteBuffer.allocateDirect(length + ALIGNMENT);
    return memory.slice(ALIGNMENT - memory.alignmentOffset(0, ALIGNMENT), length);
  }

  private void checkOpen() {
    if (closed) {
      throw Registrations.closedAlready(ALLOCATE);
    }
  }
}
