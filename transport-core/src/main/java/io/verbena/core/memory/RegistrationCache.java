// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.netty.buffer.ByteBuf;
import io.verbena.verbs.Access;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Registrations of foreign direct buffers, kept for the next use of the same buffer. The least
 * recently used are closed first, except those that a lease pins. Thread-safe.
 *
 * <p>A registration is found again by the buffer object, its native address and its capacity. No
 * peer has a right to it, so one that is out of date can give nothing away. It could still make the
 * HCA use old pages: if a pool unmaps a chunk, maps another at the same address, and hands out the
 * same buffer object there again, all while the registration is kept. Pools that give chunks back
 * while buffers are being sent should be kept from it, or {@link
 * io.verbena.RdmaOptions#maxCachedRegistrations} set to 0.
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

  /** As {@link RegisteredMemory#lease}; the bytes lie in the buffer. */
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
    owner.reserve(LEASE, length);
    ByteBuffer memory = buffer.nioBuffer(index, length);
    return begin(register(new Span().set(0, length), memory, root, length), 0);
  }

  private static ByteBuf rootOf(ByteBuf buffer) {
    ByteBuf root = buffer;
    for (ByteBuf next = root.unwrap(); next != null; next = root.unwrap()) {
      root = next;
    }
    return root;
  }

  private synchronized @Nullable Lease pin(ByteBuf root, long address, int length) {
    CachedRegistration found = kept.get(probe.set(root.memoryAddress(), root.capacity()));
    if (found == null) {
      return null;
    }
    if (!found.belongsTo(root)) {
      drop(found);
      return null;
    }
    return found.span().contains(address, length) ? begin(found, address) : null;
  }

  /** Registers all of the root; returns null if the limit or the kind of buffer forbids it. */
  private @Nullable Lease keep(ByteBuf root, long address, int length) {
    int rootLength = root.capacity();
    Span span = new Span().set(root.memoryAddress(), rootLength);
    if (!span.contains(address, length)
        || rootLength > owner.limit().bytes() >> 1
        || !owner.makeRoom(rootLength)) {
      return null;
    }
    CachedRegistration made = register(span, root.nioBuffer(0, rootLength), root, rootLength);
    synchronized (this) {
      dropAbandoned();
      CachedRegistration older = kept.get(span);
      if (older != null) {
        drop(older);
      }
      if (kept.size() < capacity || dropEldest()) {
        made.kept = true;
        kept.put(span, made);
      }
      return begin(made, address);
    }
  }

  private CachedRegistration register(Span span, ByteBuffer memory, ByteBuf root, int charge) {
    Registration registration = owner.registrations().register(LEASE, memory, LOCAL, charge);
    return new CachedRegistration(span, memory, root, abandoned, registration);
  }

  private synchronized Lease begin(CachedRegistration registration, long address) {
    registration.pins++;
    Lease lease = spare.pollLast();
    return (lease == null ? new Lease(this) : lease)
        .begin(registration, registration.translate(address));
  }

  /** Called by a lease when it ends. */
  synchronized void unpin(CachedRegistration registration, Lease lease) {
    if (spare.size() < MOST_SPARE) {
      spare.addLast(lease);
    }
    registration.pins--;
    closeIfUnused(registration);
  }

  /** Closes the registrations that no lease pins. */
  synchronized void dropUnpinned() {
    for (Iterator<CachedRegistration> i = kept.values().iterator(); i.hasNext(); ) {
      CachedRegistration registration = i.next();
      if (registration.pins == 0) {
        i.remove();
        release(registration);
      }
    }
  }

  /** Closes the registrations whose buffers are garbage. */
  private void dropAbandoned() {
    for (Reference<?> next = abandoned.poll(); next != null; next = abandoned.poll()) {
      if (next instanceof CachedRegistration registration && registration.kept) {
        drop(registration);
      }
    }
  }

  /** Closes the least recently used one that is not pinned; returns false if all are. */
  private boolean dropEldest() {
    for (Iterator<CachedRegistration> i = kept.values().iterator(); i.hasNext(); ) {
      CachedRegistration registration = i.next();
      if (registration.pins == 0) {
        i.remove();
        release(registration);
        return true;
      }
    }
    return false;
  }

  private void drop(CachedRegistration registration) {
    kept.remove(registration.span());
    release(registration);
  }

  private void release(CachedRegistration registration) {
    registration.kept = false;
    closeIfUnused(registration);
  }

  private static void closeIfUnused(CachedRegistration registration) {
    if (registration.pins == 0 && !registration.kept) {
      registration.close();
    }
  }
}
