// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.buffer.UnpooledUnsafeDirectByteBuf;
import io.verbena.verbs.Access;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Registrations of foreign direct buffers, kept for the next use of the same memory. The least
 * recently used are closed first, except those that a lease pins. Thread-safe; registers and
 * deregisters without its lock, so that a lookup does not wait for that.
 *
 * <p>A registration is found again by native address and length. It must be of the same memory:
 *
 * <ul>
 *   <li>A buffer that wraps an NIO buffer does not own its memory. The garbage collector frees the
 *       memory once no view of it exists, and the registration holds a view. So no other memory can
 *       get the address meanwhile, and any wrapper serves.
 *   <li>Any other buffer may free its memory itself: only the same object serves.
 * </ul>
 *
 * A registration is dropped when the buffer that used it last is garbage, so that it does not keep
 * memory which the program no longer uses.
 *
 * <p>Peers have no right to the memory, so a stale registration discloses nothing. It could still
 * make the HCA use old pages in two cases, both while the registration is kept: a pool unmaps a
 * chunk, maps another at the same address, and reuses the same buffer object there; or a program
 * frees an NIO buffer by hand and wraps another that got its address. A program that does so while
 * buffers are being sent should set {@link io.verbena.RdmaOptions#maxCachedRegistrations} to 0.
 */
final class RegistrationCache {
  private static final int MOST_SPARE = 1024;
  private static final String LEASE = "register a direct buffer";
  private static final Set<Access> LOCAL = Set.of(Access.LOCAL_WRITE);

  private final RegisteredMemory owner;
  private final int capacity;
  private final LinkedHashMap<Span, CachedRegistration> kept = new LinkedHashMap<>(16, 0.75f, true);
  private final ReferenceQueue<ByteBuf> abandoned = new ReferenceQueue<>();
  private final Span probe = new Span();
  private final ArrayDeque<Lease> spare = new ArrayDeque<>();

  /**
   * @param owner has the limit and the domain
   * @param capacity the most registrations to keep
   */
  RegistrationCache(RegisteredMemory owner, int capacity) {
    this.owner = owner;
    this.capacity = capacity;
  }

  /** As {@link RegisteredMemory#lease}; the bytes must be within the buffer. */
  @Nullable Lease lease(ByteBuf buffer, int index, int length) {
    if (length == 0 || !buffer.isDirect() || buffer.isReadOnly() || buffer.nioBufferCount() != 1) {
      return null;
    }
    ByteBuf root = rootOf(buffer);
    if (capacity > 0 && buffer.hasMemoryAddress() && root.hasMemoryAddress()) {
      long address = buffer.memoryAddress() + index;
      Lease lease = pin(root, address, length);
      if (lease == null) {
        lease = keep(root, address, length);
      }
      if (lease != null) {
        return lease;
      }
    }
    // Before the reservation, because a foreign buffer may throw.
    ByteBuffer memory = buffer.nioBuffer(index, length);
    owner.reserve(LEASE, length);
    return begin(register(new Span().set(0, length), memory, root, length), 0);
  }

  private static ByteBuf rootOf(ByteBuf buffer) {
    ByteBuf root = buffer;
    for (ByteBuf next = root.unwrap(); next != null; next = root.unwrap()) {
      root = next;
    }
    return root;
  }

  private @Nullable Lease pin(ByteBuf root, long address, int length) {
    CachedRegistration stale;
    synchronized (this) {
      CachedRegistration found = kept.get(probe.set(root.memoryAddress(), root.capacity()));
      if (found == null) {
        return null;
      }
      if (!found.isOf(root, wraps(root))) {
        stale = drop(found);
      } else if (found.span().contains(address, length)) {
        return begin(use(found, root), address);
      } else {
        return null;
      }
    }
    if (stale != null) {
      stale.close();
    }
    return null;
  }

  /**
   * Makes this buffer the user of a registration, which is then kept until the buffer is garbage.
   */
  private CachedRegistration use(CachedRegistration registration, ByteBuf root) {
    if (registration.isUsedBy(root)) {
      return registration;
    }
    registration.user(new BufferReference(root, abandoned, registration));
    return registration;
  }

  /**
   * Registers and keeps all of the root buffer; returns null if the limit or the kind of buffer
   * forbids that.
   */
  private @Nullable Lease keep(ByteBuf root, long address, int length) {
    int rootLength = root.capacity();
    Span span = new Span().set(root.memoryAddress(), rootLength);
    if (!span.contains(address, length) || rootLength > owner.limit().bytes() >> 1) {
      return null;
    }
    ByteBuffer memory = root.nioBuffer(0, rootLength);
    if (!owner.makeRoom(rootLength)) {
      return null;
    }
    CachedRegistration made = register(span, memory, root, rootLength);
    List<CachedRegistration> dropped = new ArrayList<>();
    Lease lease;
    synchronized (this) {
      dropAbandoned(dropped);
      CachedRegistration older = kept.get(span);
      if (older != null) {
        addUnlessNull(dropped, drop(older));
      }
      if (kept.size() < capacity || dropEldest(dropped)) {
        made.kept = true;
        kept.put(span, made);
      }
      lease = begin(made, address);
    }
    dropped.forEach(CachedRegistration::close);
    return lease;
  }

  private CachedRegistration register(Span span, ByteBuffer memory, ByteBuf root, int charge) {
    Registration registration = owner.registrations().register(LEASE, memory, LOCAL, charge);
    CachedRegistration made = new CachedRegistration(span, memory, wraps(root), registration);
    made.user(new BufferReference(root, abandoned, made));
    return made;
  }

  private synchronized Lease begin(CachedRegistration registration, long address) {
    registration.pins++;
    Lease lease = spare.pollLast();
    return (lease == null ? new Lease(this) : lease)
        .begin(registration, registration.translate(address));
  }

  /** Called by a lease when it ends. */
  void unpin(CachedRegistration registration, Lease lease) {
    boolean unused;
    synchronized (this) {
      if (spare.size() < MOST_SPARE) {
        spare.addLast(lease);
      }
      registration.pins--;
      unused = isUnused(registration);
    }
    if (unused) {
      registration.close();
    }
  }

  /** Closes the registrations that no lease pins. */
  void dropUnpinned() {
    List<CachedRegistration> dropped = new ArrayList<>();
    synchronized (this) {
      for (Iterator<CachedRegistration> i = kept.values().iterator(); i.hasNext(); ) {
        CachedRegistration registration = i.next();
        if (registration.pins == 0) {
          i.remove();
          registration.kept = false;
          dropped.add(registration);
        }
      }
    }
    dropped.forEach(CachedRegistration::close);
  }

  /** Drops the registrations whose buffers are garbage. */
  private void dropAbandoned(List<CachedRegistration> dropped) {
    for (Reference<?> next = abandoned.poll(); next != null; next = abandoned.poll()) {
      if (next instanceof BufferReference reference && reference.isCurrent()) {
        addUnlessNull(dropped, drop(reference.registration()));
      }
    }
  }

  /**
   * Drops the least recently used registration that is not pinned; returns false if all are pinned.
   */
  private boolean dropEldest(List<CachedRegistration> dropped) {
    for (Iterator<CachedRegistration> i = kept.values().iterator(); i.hasNext(); ) {
      CachedRegistration registration = i.next();
      if (registration.pins == 0) {
        i.remove();
        registration.kept = false;
        dropped.add(registration);
        return true;
      }
    }
    return false;
  }

  /** Removes a registration from the cache; returns it if it is to be closed now, else null. */
  private @Nullable CachedRegistration drop(CachedRegistration registration) {
    if (registration.kept) {
      kept.remove(registration.span());
      registration.kept = false;
    }
    return isUnused(registration) ? registration : null;
  }

  private static boolean isUnused(CachedRegistration registration) {
    return registration.pins == 0 && !registration.kept;
  }

  private static void addUnlessNull(
      List<CachedRegistration> all, @Nullable CachedRegistration registration) {
    if (registration != null) {
      all.add(registration);
    }
  }

  /**
   * Returns whether a buffer wraps memory that it never frees; Netty's buffers that free theirs are
   * subclasses of these classes.
   */
  private static boolean wraps(ByteBuf root) {
    Class<?> kind = root.getClass();
    return (kind == UnpooledUnsafeDirectByteBuf.class || kind == UnpooledDirectByteBuf.class)
        && root.alloc() == UnpooledByteBufAllocator.DEFAULT
        && root.capacity() == root.maxCapacity();
  }
}
