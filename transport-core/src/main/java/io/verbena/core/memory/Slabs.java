// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import static io.verbena.core.memory.SizeClasses.LARGEST;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.verbena.HcaException;
import io.verbena.MemoryLimitException;
import io.verbena.verbs.Access;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The buffers of registered memory, each bound to a block of a slab: free buffers by size class,
 * and the slabs that new buffers are cut from. A buffer longer than the largest size class has a
 * slab of its own. Thread-safe; takes a lock only for new and for long buffers. Memory is allocated
 * and registered without that lock, so a thread that finds a block does not wait for a
 * registration.
 */
final class Slabs {
  private static final int MOST_IN_SLAB = 4 << 20;
  private static final int LEAST_FALLBACK = 256;
  private static final int LEAST_IN_SLAB = 16 << 10;
  private static final int ALIGNMENT = 4096;
  private static final long MOST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final String ALLOCATE = "allocate";

  private final RegisteredMemory owner;
  private final int slabLength;
  private final List<StripedStack<RegisteredByteBuf>> free = new ArrayList<>(SizeClasses.COUNT);
  private final LargeBuffers freeLarge;
  private final DirectMemory direct;
  private final Device device;

  /**
   * Held by the thread that registers a whole slab. Other threads wait a moment for it, and then
   * register slabs of their own.
   */
  private final ReentrantLock expansion = new ReentrantLock();

  private volatile @Nullable HcaRefusal refusal;

  /** Guards the lists of slabs, and deregistering of slabs. */
  private final ReentrantLock growth = new ReentrantLock();

  private final List<Slab> slabs = new ArrayList<>();
  private final List<Slab> slabsWithRoom = new ArrayList<>();
  private final AtomicLong made = new AtomicLong();
  private volatile boolean closed;

  /**
   * @param owner has the limit and the domain
   * @param direct the memory that slabs are made of
   * @param device the device where slabs are registered
   */
  Slabs(RegisteredMemory owner, DirectMemory direct, Device device) {
    this.owner = owner;
    this.direct = direct;
    this.device = device;
    long maxRegionLength = device.attributes().maxMemoryRegionSize();
    long limit = Math.min(owner.limit().bytes(), direct.share());
    long fair = Math.min(Math.max(limit >> 4, LEAST_IN_SLAB), MOST_IN_SLAB);
    slabLength = (int) Long.highestOneBit(Math.min(fair, maxRegionLength));
    freeLarge = new LargeBuffers(limit >> 2);
    for (int i = 0; i < SizeClasses.COUNT; i++) {
      free.add(new StripedStack<>());
    }
  }

  /**
   * Returns a free buffer whose block holds at least this many bytes; the caller {@linkplain
   * RegisteredByteBuf#begin begins} its use.
   *
   * @throws MemoryLimitException if this limit, or the JVM's on direct memory, is reached
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

  /** As {@link #take}, but returns a buffer in unregistered memory at the limit. */
  RegisteredByteBuf takeOrFallBack(int length) {
    try {
      return take(length);
    } catch (MemoryLimitException e) {
      // Netty's own allocator pools the memory, and knows the JVM's limit.
      int capacity = Math.max(LEAST_FALLBACK, length);
      ByteBuf memory = PooledByteBufAllocator.DEFAULT.directBuffer(capacity, capacity);
      return new RegisteredByteBuf(owner.allocator(), this, new Block(memory, capacity));
    }
  }

  /**
   * As {@link #take}, but returns null if a long buffer would have to be allocated and registered,
   * because no free one is long enough.
   */
  @Nullable RegisteredByteBuf takeAtOnce(int length) {
    return length > MOST_IN_SLAB ? freeLarge.take(length) : take(length);
  }

  /** Takes back a buffer that is no longer used. */
  void give(RegisteredByteBuf buffer) {
    Block block = buffer.block();
    if (!block.isRegistered()) {
      block.releaseUnregistered();
      return;
    }
    if (block.length > LARGEST) {
      freeLarge.give(buffer);
    } else {
      free.get(SizeClasses.of(block.length)).push(buffer);
    }
    if (closed) {
      clear();
    }
  }

  /** Returns the number of slabs that were registered so far. */
  long made() {
    return made.get();
  }

  /** Returns the bytes of the free buffers; they may be outdated on return. */
  long freeBytes() {
    long bytes = freeLarge.kept();
    for (int i = 0; i < free.size(); i++) {
      bytes += (long) free.get(i).size() * SizeClasses.length(i);
    }
    return bytes;
  }

  /** Returns the length of a slab for many buffers. */
  int slabLength() {
    return slabLength;
  }

  /** Deregisters the slabs without buffers in use. */
  void deregisterIdle() {
    deregisterIdle(0);
  }

  /**
   * Deregisters the slabs without buffers in use, but one for the next buffers; returns whether
   * there were any.
   */
  boolean trim() {
    return deregisterIdle(1);
  }

  private boolean deregisterIdle(int spared) {
    boolean hadLarge = freeLarge.kept() > 0;
    freeLarge.clear();
    growth.lock();
    try {
      List<RegisteredByteBuf> idle = new ArrayList<>();
      for (StripedStack<RegisteredByteBuf> stack : free) {
        stack.drainTo(idle);
      }
      slabs.forEach(Slab::clearIdle);
      idle.forEach(buffer -> buffer.block().slab().countIdle());
      slabs.stream().filter(Slab::isIdle).skip(spared).forEach(Slab::close);
      boolean hadIdle = slabs.removeIf(slab -> !slab.isOpen());
      slabsWithRoom.removeIf(slab -> !slab.isOpen());
      for (RegisteredByteBuf buffer : idle) {
        if (buffer.block().slab().isOpen()) {
          give(buffer);
        }
      }
      return hadLarge || hadIdle;
    } finally {
      growth.unlock();
    }
  }

  /** Drops the free buffers and makes no new ones. The owner closes the registrations. */
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
    int length = SizeClasses.length(sizeClass);
    RegisteredByteBuf buffer = reuseOrCut(sizeClass, length);
    if (buffer != null) {
      return buffer;
    }
    boolean whole = tryExpand();
    try {
      buffer = whole ? reuseOrCut(sizeClass, length) : null;
      return buffer == null ? cutFrom(newSlab(length, whole), length) : buffer;
    } catch (MemoryLimitException e) {
      RegisteredByteBuf longer = takeLonger(sizeClass);
      if (longer == null) {
        throw e;
      }
      return longer;
    } finally {
      if (whole) {
        expansion.unlock();
      }
    }
  }

  private boolean tryExpand() {
    try {
      return expansion.tryLock(MOST_WAIT_NANOS, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private RegisteredByteBuf cutFrom(Slab slab, int length) {
    growth.lock();
    try {
      slabs.add(slab);
      slabsWithRoom.add(slab);
      return newBuffer(slab.cut(length));
    } finally {
      growth.unlock();
    }
  }

  /** Takes a free buffer, or cuts one from a slab that has room; returns null if there is none. */
  private @Nullable RegisteredByteBuf reuseOrCut(int sizeClass, int length) {
    growth.lock();
    try {
      RegisteredByteBuf freed = free.get(sizeClass).popSurely();
      if (freed != null) {
        return freed;
      }
      checkOpen();
      Block block = cut(length);
      return block == null ? null : newBuffer(block);
    } finally {
      growth.unlock();
    }
  }

  /**
   * Takes any free buffer of this size class or a longer one, at the limit; returns null if there
   * is none.
   */
  private @Nullable RegisteredByteBuf takeLonger(int sizeClass) {
    growth.lock();
    try {
      // The lock excludes deregisterIdle(), which holds all free buffers for a moment.
      for (int longer = sizeClass; longer < SizeClasses.COUNT; longer++) {
        RegisteredByteBuf freed = free.get(longer).popSurely();
        if (freed != null) {
          return freed;
        }
      }
      return null;
    } finally {
      growth.unlock();
    }
  }

  private RegisteredByteBuf newBuffer(Block block) {
    return new RegisteredByteBuf(owner.allocator(), this, block);
  }

  /** Cuts a block from a slab that has room; returns null if there is none. */
  private @Nullable Block cut(int length) {
    for (int i = slabsWithRoom.size() - 1; i >= 0; i--) {
      Slab slab = slabsWithRoom.get(i);
      if (slab.hasRoom(length)) {
        return slab.cut(length);
      }
      if (!slab.hasRoom(SizeClasses.SMALLEST)) {
        slabsWithRoom.remove(i);
      }
    }
    return null;
  }

  /**
   * Registers a slab: a whole one if wanted and if there is memory for it, else one of {@code
   * length} bytes.
   */
  private Slab newSlab(int length, boolean whole) {
    if (whole && length < slabLength && owner.limit().reserve(slabLength)) {
      if (direct.reserve(slabLength)) {
        try {
          return register(slabLength);
        } catch (MemoryLimitException e) {
          return newSlabOf(length);
        }
      }
      owner.limit().giveBack(slabLength);
    }
    return newSlabOf(length);
  }

  private Slab newSlabOf(int length) {
    reserve(length);
    return register(length);
  }

  private RegisteredByteBuf makeLarge(int wanted) {
    checkOpen();
    int length = LargeBuffers.roundUp(wanted);
    return newBuffer(newSlabOf(length).cut(length));
  }

  /**
   * Reserves bytes at the user's limit and at the JVM's.
   *
   * @throws MemoryLimitException if they do not fit, even without the memory that is kept for reuse
   */
  private void reserve(int length) {
    owner.reserve(ALLOCATE, length);
    if (direct.reserve(length)) {
      return;
    }
    deregisterIdle();
    if (!direct.reserve(length)) {
      owner.limit().giveBack(length);
      throw direct.reached(ALLOCATE, length, owner.limit().bytes());
    }
  }

  /**
   * Registers a slab of reserved bytes; returns them to the limits if that fails.
   *
   * @throws MemoryLimitException if the JVM or the HCA has no more memory, or had none at the last
   *     attempt and none was freed since
   */
  private Slab register(int length) {
    HcaRefusal last = refusal;
    ByteBuffer memory;
    try {
      if (last != null && last.covers(length, owner.registrations().closings())) {
        throw refused(length, last.why());
      }
      memory = allocate(length);
    } catch (MemoryLimitException e) {
      owner.limit().giveBack(length);
      direct.giveBack(length);
      throw e;
    }
    try {
      Registration registration =
          owner
              .registrations()
              .register(ALLOCATE, memory, Set.of(Access.LOCAL_WRITE), length, direct);
      made.incrementAndGet();
      return new Slab(memory, registration);
    } catch (HcaException e) {
      if (!isOutOfMemory(e)) {
        throw e;
      }
      MemoryLimitException why = refused(length, e);
      refusal = new HcaRefusal(length, owner.registrations().closings(), why);
      throw why;
    }
  }

  private static boolean isOutOfMemory(HcaException e) {
    return e.getCause() instanceof VerbsException refused
        && (refused.error() == VerbsError.NO_MEMORY || refused.error() == VerbsError.NOT_PERMITTED);
  }

  private static MemoryLimitException refused(int length, Throwable cause) {
    return new MemoryLimitException(
        ALLOCATE,
        null,
        "bytes: "
            + length
            + " (expected: as many as the HCA takes and the user may lock); release buffers and"
            + " regions, or raise the limit of locked memory",
        cause);
  }

  /** Allocates page-aligned memory, so that the HCA locks no more pages than necessary. */
  private ByteBuffer allocate(int length) {
    if (length > Integer.MAX_VALUE - ALIGNMENT) {
      return direct.allocate(ALLOCATE, device, length);
    }
    ByteBuffer memory = direct.allocate(ALLOCATE, device, length + ALIGNMENT);
    return memory.slice(ALIGNMENT - memory.alignmentOffset(0, ALIGNMENT), length);
  }

  private void checkOpen() {
    if (closed) {
      throw Registrations.closedAlready(ALLOCATE);
    }
  }
}
