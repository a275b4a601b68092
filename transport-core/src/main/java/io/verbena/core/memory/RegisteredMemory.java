// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.verbena.HcaException;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RemoteMemory;
import io.verbena.verbs.Access;
import io.verbena.verbs.Capability;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The registered memory of one protection domain, under one limit: an allocator's slabs and a
 * bounded cache of foreign direct buffers, neither of which peers can access, and the regions
 * registered for peers, each with its rights. Thread-safe.
 */
public final class RegisteredMemory implements RdmaMemory, AutoCloseable {
  private static final Set<Access> READ_BY_PEER = Set.of(Access.REMOTE_READ);
  private static final String EXPOSE = "expose";
  private static final String REGISTER = "register";
  private static final Set<Access> READ_SINK = Set.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE);

  private final RegistrationLimit limit;
  private final long plenty;
  private final boolean hasLocalReadSinks;
  private final boolean prefersOwn;
  private final Registrations registrations;
  private final Slabs slabs;
  private final SlabTrimmer trimmer;
  private final RegistrationCache cache;
  private final RegisteredAllocator allocator;
  private final RegisteredAllocator lenientAllocator;

  /**
   * @param domain the domain where memory is registered; the caller closes it
   * @param options the limit and the size of the cache
   */
  public RegisteredMemory(ProtectionDomain domain, RdmaOptions options) {
    this(domain, options, DirectMemory.jvm());
  }

  /**
   * Registered memory with another source of slabs.
   *
   * @param direct the memory that the allocator's slabs are made of
   */
  public RegisteredMemory(ProtectionDomain domain, RdmaOptions options, DirectMemory direct) {
    this(domain, options, direct, System::nanoTime);
  }

  /** Registered memory with another clock, for tests. */
  RegisteredMemory(
      ProtectionDomain domain, RdmaOptions options, DirectMemory direct, LongSupplier clock) {
    requireNonNull(domain, "domain");
    limit = new RegistrationLimit(options.maxRegisteredBytes());
    plenty = Math.min(limit.bytes(), direct.share()) >> 1;
    hasLocalReadSinks = domain.device().attributes().supports(Capability.LOCAL_READ_SINKS);
    prefersOwn = domain.device().prefersOwnMemory();
    registrations = new Registrations(domain, limit);
    slabs = new Slabs(this, direct, domain.device());
    trimmer = new SlabTrimmer(slabs, clock);
    cache = new RegistrationCache(this, options.maxCachedRegistrations());
    allocator = new RegisteredAllocator(slabs, false);
    lenientAllocator = new RegisteredAllocator(slabs, true);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Allocating and releasing makes no garbage once there are enough buffers. Nor does taking up
   * to 256 retained slices of a buffer, on the first thread that takes one. A retained slice has
   * its own reference count.
   */
  @Override
  public ByteBufAllocator allocator() {
    return allocator;
  }

  /**
   * Returns an allocator for code that does not know of registered memory. It works as {@link
   * #allocator}, but at the limit its buffers, or those that grow, are in unregistered memory,
   * where {@link #locate} does not find them.
   */
  public ByteBufAllocator lenientAllocator() {
    return lenientAllocator;
  }

  /**
   * Allocates a registered buffer of this fixed capacity, unless that takes long. A long buffer
   * takes long if no released buffer can be reused: the JVM zeroes its bytes, and the HCA registers
   * them.
   *
   * @return the buffer, or null if it takes long; use {@link #allocator} then
   * @throws MemoryLimitException if the limit is reached
   */
  public @Nullable ByteBuf allocateAtOnce(int capacity) {
    return allocator.allocateAtOnce(capacity);
  }

  /**
   * Finds bytes of a buffer in the allocator's memory, also through slices, duplicates, wrappers
   * and one component of a composite buffer. Allocates nothing.
   *
   * @param into gets the location of the bytes, if they are found
   * @return whether the bytes are found
   * @throws IndexOutOfBoundsException if the bytes are not within the buffer
   * @throws IllegalReferenceCountException if the buffer was released
   */
  public boolean locate(ByteBuf buf, int index, int length, Location into) {
    checkRange(buf, index, length);
    ByteBuf at = buf;
    int offset = index;
    for (; ; ) {
      if (at instanceof RegisteredBytes bytes) {
        return locate(bytes, offset, into);
      }
      ByteBuf next;
      if (at instanceof RegisteredView view) {
        offset += view.offset();
        next = view.unwrap();
      } else if (at instanceof CompositeByteBuf composite) {
        int component = componentOf(composite, offset, length);
        if (component < 0) {
          return false;
        }
        offset -= composite.toByteIndex(component);
        next = composite.internalComponent(component);
      } else {
        next = at.unwrap();
        if (next == null || next.capacity() != at.capacity()) {
          // Neither a wrapper nor a duplicate: the offset is unknown.
          return false;
        }
      }
      at = next;
    }
  }

  private boolean locate(RegisteredBytes bytes, int offset, Location into) {
    RegisteredByteBuf root = bytes.root;
    if (root.slabs() != slabs) {
      return false;
    }
    Block block = root.block();
    if (!block.isRegistered()) {
      return false;
    }
    into.set(block.address + bytes.offset + offset, block.lkey);
    return true;
  }

  /** Returns the index of the component that has all of the bytes, or -1. */
  private static int componentOf(CompositeByteBuf composite, int index, int length) {
    if (length == 0) {
      return -1;
    }
    int component = composite.toComponentIndex(index);
    return composite.toComponentIndex(index + length - 1) == component ? component : -1;
  }

  /**
   * Registers memory of a foreign direct buffer for work requests of this end, or finds its
   * registration in the cache. Takes a lock, so it pays only for buffers that take longer than a
   * microsecond to copy.
   *
   * <p>A registration is reused for the same buffer object, as long as its native address and
   * capacity are the same. A pool that unmaps memory and maps other memory at the same address
   * defeats this check; {@link RdmaOptions#maxCachedRegistrations} must then be 0.
   *
   * @return the lease, to be released once; null if the memory cannot be registered, because it is
   *     on the heap, read-only, empty or in several pieces: then the bytes must be copied
   * @throws MemoryLimitException if the limit is reached
   * @throws HcaException if the HCA refuses
   */
  public @Nullable Lease lease(ByteBuf buf, int index, int length) {
    checkRange(buf, index, length);
    return cache.lease(buf, index, length);
  }

  /**
   * Finds bytes for work requests of this end: in the allocator's memory by {@link #locate}, in
   * other memory by {@link #lease}.
   *
   * @param leaseFrom the length in bytes from which foreign bytes are registered
   * @param into gets the location of the bytes, and perhaps a lease that the caller has to take
   * @return whether the bytes are found; else they must be copied
   * @throws MemoryLimitException if the limit is reached
   * @throws HcaException if the HCA refuses
   */
  public boolean reach(ByteBuf buf, int index, int length, int leaseFrom, Location into) {
    if (locate(buf, index, length, into)) {
      return true;
    }
    Lease lease = length < leaseFrom ? null : lease(buf, index, length);
    if (lease == null) {
      return false;
    }
    into.set(lease);
    return true;
  }

  /**
   * As {@link #reach}, for bytes to send. Foreign bytes for which {@link #paysToCopy} returns true
   * are not registered, and must be copied.
   */
  public boolean reachToSend(ByteBuf buf, int index, int length, int leaseFrom, Location into) {
    return reach(buf, index, length, paysToCopy(length) ? Integer.MAX_VALUE : leaseFrom, into);
  }

  /**
   * Returns whether the device sends bytes of the allocator's memory so much faster than others
   * that it pays to copy them there. For more bytes than the largest size class it does not.
   *
   * @param length the number of bytes
   */
  public boolean paysToCopy(int length) {
    return prefersOwn && length <= SizeClasses.LARGEST;
  }

  /**
   * Copies bytes of any buffer into a new buffer of the allocator, which belongs to the caller.
   *
   * @throws MemoryLimitException if the limit is reached
   */
  public ByteBuf copy(ByteBuf buf, int index, int length) {
    ByteBuf copy = allocator.directBuffer(length, length);
    try {
      return copy.writeBytes(buf, index, length);
    } catch (Throwable e) {
      copy.release();
      throw e;
    }
  }

  /**
   * Registers exactly these bytes for a peer to READ. The caller keeps the buffer retained until
   * the exposure is closed. Bytes of the allocator's memory do not count against the limit again.
   *
   * @throws IllegalArgumentException for bytes on the heap or in several pieces, and for 0 bytes
   * @throws MemoryLimitException if the limit is reached
   * @throws HcaException if the HCA refuses
   */
  public Exposure expose(ByteBuf buf, int index, int length) {
    return expose(buf, index, length, READ_BY_PEER);
  }

  /**
   * Registers exactly these bytes as the destination of a READ of this end, if the device requires
   * that the peer may write there. The peer gets the key, which permits only that, and nothing once
   * the exposure is closed. The caller keeps the buffer retained until then.
   *
   * @return the exposure; null on a device with {@link Capability#LOCAL_READ_SINKS}, where any
   *     registered memory serves
   * @throws IllegalArgumentException as {@link #expose}
   * @throws MemoryLimitException if the limit is reached
   * @throws HcaException if the HCA refuses
   */
  public @Nullable Exposure readSink(ByteBuf buf, int index, int length) {
    return hasLocalReadSinks ? null : expose(buf, index, length, READ_SINK);
  }

  private Exposure expose(ByteBuf buf, int index, int length, Set<Access> access) {
    checkRange(buf, index, length);
    if (length == 0 || !buf.isDirect() || buf.nioBufferCount() != 1) {
      throw new IllegalArgumentException(
          "expose: " + length + " bytes of " + buf + " (expected: >= 1, direct, in one piece)");
    }
    long charge = locate(buf, index, length, new Location()) ? 0 : length;
    // Before the reservation, because a foreign buffer may throw.
    ByteBuffer bytes = buf.nioBuffer(index, length);
    reserve(EXPOSE, charge);
    return new Exposure(registrations.register(EXPOSE, bytes, access, charge));
  }

  /**
   * {@inheritDoc}
   *
   * @throws HcaException if the HCA refuses
   */
  @Override
  public Region register(ByteBuffer buffer, Set<RemoteMemory.Right> rights) {
    Set<RemoteMemory.Right> granted = Set.copyOf(rights);
    if (granted.isEmpty()) {
      throw new IllegalArgumentException("rights: [] (expected: at least one)");
    }
    if (!buffer.isDirect()) {
      throw new IllegalArgumentException(
          "buffer: " + buffer + " on the heap (expected: a direct buffer, which an HCA can reach)");
    }
    if (!buffer.hasRemaining()) {
      throw new IllegalArgumentException("buffer: 0 bytes (expected: >= 1)");
    }
    Set<Access> access = accessFor(granted);
    if (buffer.isReadOnly() && access.contains(Access.LOCAL_WRITE)) {
      throw new IllegalArgumentException(
          "rights: " + granted + " on a read-only buffer (expected: READ alone)");
    }
    int length = buffer.remaining();
    reserve(REGISTER, length);
    return new SharedRegion(registrations.register(REGISTER, buffer, access, length), granted);
  }

  private static Set<Access> accessFor(Set<RemoteMemory.Right> rights) {
    EnumSet<Access> access = EnumSet.noneOf(Access.class);
    for (RemoteMemory.Right right : rights) {
      switch (right) {
        case READ -> access.add(Access.REMOTE_READ);
        case WRITE -> {
          access.add(Access.REMOTE_WRITE);
          access.add(Access.LOCAL_WRITE);
        }
        case ATOMIC -> {
          access.add(Access.REMOTE_ATOMIC);
          access.add(Access.LOCAL_WRITE);
        }
      }
    }
    return access;
  }

  @Override
  public long registeredBytes() {
    return limit.used();
  }

  /**
   * Deregisters memory of the allocator that nobody has used for some seconds, except for the next
   * few buffers. Called now and then by one thread at a time; seldom does more than read the clock.
   *
   * @return the nanoseconds until the next call is useful
   */
  public long trim() {
    return trimmer.run();
  }

  /**
   * Deregisters all memory, also memory in use, and registers none from now on. Idempotent. Buffers
   * of the allocator that are still held stay readable until they are released.
   *
   * @throws VerbsException if the HCA refuses to deregister some memory, after all other memory was
   *     deregistered
   */
  @Override
  public void close() {
    slabs.close();
    registrations.close();
  }

  /**
   * Returns whether more than half of the limit, or of the JVM's direct memory for slabs, is
   * registered. Bytes that are only kept for later should then be copied.
   */
  public boolean isScarce() {
    return limit.used() > plenty;
  }

  /**
   * Prepares a buffer of this allocator, all slices of which are released, for its next use; this
   * is cheaper than releasing it and allocating another. The caller holds the only reference.
   *
   * @return false if there is another reference, or the buffer is not of this allocator
   */
  public boolean reuse(ByteBuf buffer) {
    return buffer instanceof RegisteredByteBuf own && own.reuse();
  }

  RegistrationLimit limit() {
    return limit;
  }

  Registrations registrations() {
    return registrations;
  }

  /**
   * Reserves bytes.
   *
   * @throws MemoryLimitException if they do not fit, even without the memory that is kept for reuse
   */
  void reserve(String operation, long bytes) {
    if (!makeRoom(bytes)) {
      throw limit.reached(operation, bytes);
    }
  }

  /**
   * Reserves bytes, if necessary by giving up memory that is kept for reuse; returns false if they
   * do not fit.
   */
  boolean makeRoom(long bytes) {
    if (limit.reserve(bytes)) {
      return true;
    }
    cache.dropUnpinned();
    if (limit.reserve(bytes)) {
      return true;
    }
    slabs.deregisterIdle();
    return limit.reserve(bytes);
  }

  private static void checkRange(ByteBuf buf, int index, int length) {
    if ((index | length) < 0 || index > buf.capacity() - length) {
      throw new IndexOutOfBoundsException(
          "index: " + index + ", length: " + length + " (expected: within " + buf.capacity() + ")");
    }
    if (buf.refCnt() == 0) {
      throw new IllegalReferenceCountException(0);
    }
  }
}
