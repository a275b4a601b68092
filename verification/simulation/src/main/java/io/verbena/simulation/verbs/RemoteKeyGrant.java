// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import io.verbena.verbs.Access;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Grants peers access to a part of a region, by one key after another. */
final class RemoteKeyGrant {
  /** The object whose key is granted. */
  enum Source {
    /** A type 2 window, usable by the peer of the queue pair that binds it. */
    TYPE_2_WINDOW,
    /** A type 1 window, usable by the peers of all queue pairs of the domain. */
    TYPE_1_WINDOW,
    /** A second region over the same memory. */
    REGION
  }

  private static final Set<Access> RIGHTS =
      Set.copyOf(EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE));
  private static final Set<Access> READ_ONLY =
      Set.copyOf(EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ));

  final Source source;
  private final ProtectionDomain domain;
  private final MemoryRegion region;
  private final long address;
  private final ByteBuffer memory;
  private @Nullable MemoryWindow window;
  private @Nullable MemoryRegion ownRegion;
  private @Nullable KeyLifetime key;
  private @Nullable KeyLifetime previous;

  /**
   * Creates a grant that has no key yet.
   *
   * @param region the region that contains the memory
   * @param address the address of the first byte
   * @param memory the memory
   */
  RemoteKeyGrant(
      Source source,
      ProtectionDomain domain,
      MemoryRegion region,
      long address,
      ByteBuffer memory) {
    this.source = source;
    this.domain = domain;
    this.region = region;
    this.address = address;
    this.memory = memory;
  }

  /** Returns the current key, or the last one if it was revoked. */
  @Nullable KeyLifetime key() {
    return key;
  }

  /** Returns the current key if it is a valid key of a type 2 window, otherwise null. */
  @Nullable KeyLifetime validType2Key() {
    KeyLifetime current = key;
    return source == Source.TYPE_2_WINDOW && current != null && current.isValid() ? current : null;
  }

  /** Returns a key that was revoked, or null if there is none. */
  @Nullable KeyLifetime revokedKey() {
    KeyLifetime current = key;
    if (current != null && current.isRevoked()) {
      return current;
    }
    KeyLifetime last = previous;
    return last != null && last.isRevoked() ? last : null;
  }

  /** Returns the address after the last byte. */
  long endAddress() {
    return address + memory.capacity();
  }

  /** Returns whether a new key may be granted. */
  boolean mayGrant() {
    KeyLifetime current = key;
    return current == null
        || (source == Source.TYPE_1_WINDOW ? current.isValid() : current.isRevoked());
  }

  private void replaceKey(KeyLifetime next) {
    KeyLifetime last = key;
    if (last != null && last.isRevoked()) {
      previous = last;
    }
    key = next;
  }

  /**
   * Of a region: registers it, or moves it back from another domain.
   *
   * @param otherMemory memory to register first and to replace by reregistration, or null
   */
  void register(@Nullable ByteBuffer otherMemory) {
    MemoryRegion registered = ownRegion;
    if (registered != null && registered.protectionDomain() != domain) {
      registered.reregister(domain, null, RIGHTS);
    } else {
      closeRegion();
      registered = domain.register(otherMemory == null ? memory : otherMemory, RIGHTS);
      ownRegion = registered;
      if (otherMemory != null) {
        registered.reregister(null, memory, null);
      }
    }
    replaceRegionKey(registered, false).activate();
  }

  /**
   * Of a region: reregisters it with or without the right to write.
   *
   * @param readOnly whether peers may only read
   * @param withMemory whether to change the memory too, to the same memory
   */
  void reregister(boolean readOnly, boolean withMemory) {
    MemoryRegion registered = ownRegion;
    if (registered != null) {
      registered.reregister(null, withMemory ? memory : null, readOnly ? READ_ONLY : RIGHTS);
      replaceRegionKey(registered, readOnly).activate();
    }
  }

  /** Of a region: moves it to another domain, where the peers cannot use its key. */
  void moveTo(ProtectionDomain target) {
    MemoryRegion registered = ownRegion;
    if (registered != null) {
      registered.reregister(target, null, null);
      replaceRegionKey(registered, false).revoke();
    }
  }

  private KeyLifetime replaceRegionKey(MemoryRegion registered, boolean readOnly) {
    KeyLifetime current = key;
    if (current != null) {
      current.revoke();
    }
    KeyLifetime next = new KeyLifetime(registered.rkey(), registered.address(), readOnly);
    replaceKey(next);
    return next;
  }

  /** Of a type 2 window: fills a bind request and returns the new key. */
  KeyLifetime bind(SendWorkRequest request, boolean readOnly) {
    MemoryWindow bound = window(MemoryWindowType.TYPE_2B);
    int windowKey = (bound.rkey() & ~0xff) | (bound.rkey() + 1 & 0xff);
    int access =
        Access.REMOTE_READ.bit()
            | (readOnly ? 0 : Access.REMOTE_WRITE.bit() | Access.REMOTE_ATOMIC.bit());
    request
        .bind(bound, windowKey, region, access)
        .buffer(address, memory.capacity(), region.lkey());
    KeyLifetime next = new KeyLifetime(windowKey, address, readOnly);
    replaceKey(next);
    return next;
  }

  /** Of a type 1 window: fills a bind request. {@link #type1BindPosted} returns the new key. */
  void bindType1(SendWorkRequest request) {
    request
        .bind(window(MemoryWindowType.TYPE_1), region, Access.REMOTE_ATOMIC.bit())
        .buffer(address, memory.capacity(), region.lkey());
    KeyLifetime last = key;
    if (last != null) {
      last.startRevoking();
    }
  }

  /** Returns the new key of a type 1 window after its bind request was posted. */
  KeyLifetime type1BindPosted() {
    previous = key;
    KeyLifetime next = new KeyLifetime(window(MemoryWindowType.TYPE_1).rkey(), address, false);
    key = next;
    return next;
  }

  private MemoryWindow window(MemoryWindowType type) {
    MemoryWindow allocated = window;
    if (allocated == null) {
      allocated = domain.allocateMemoryWindow(type);
      window = allocated;
    }
    return allocated;
  }

  /** Deregisters the region or deallocates the window. */
  void close() {
    MemoryWindow allocated = window;
    if (allocated != null) {
      allocated.close();
      window = null;
    }
    closeRegion();
    KeyLifetime current = key;
    if (current != null) {
      current.revoke();
    }
  }

  private void closeRegion() {
    MemoryRegion registered = ownRegion;
    if (registered != null) {
      registered.close();
      ownRegion = null;
    }
  }
}
