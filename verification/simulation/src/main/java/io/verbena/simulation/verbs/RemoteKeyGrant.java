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

/** A way for peers into a part of a region by keys of its own, one after the other. */
final class RemoteKeyGrant {
  /** What makes its keys. */
  enum Sort {
    /** A window of type 2, for the peer of the queue pair that binds it. */
    OWN_WINDOW,
    /** A window of type 1, for the peers of all queue pairs of the domain. */
    DOMAIN_WINDOW,
    /** A second region over the same memory. */
    REGION
  }

  private static final Set<Access> RIGHTS =
      Set.copyOf(EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE));
  private static final Set<Access> READING =
      Set.copyOf(EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ));

  final Sort sort;
  private final ProtectionDomain domain;
  private final MemoryRegion region;
  private final long address;
  private final ByteBuffer memory;
  private @Nullable MemoryWindow window;
  private @Nullable MemoryRegion own;
  private @Nullable KeyLifetime life;
  private @Nullable KeyLifetime before;

  /**
   * A door that is closed.
   *
   * @param region where it leads to
   * @param address of the first byte
   * @param memory the bytes
   */
  RemoteKeyGrant(Sort sort, ProtectionDomain domain, MemoryRegion region, long address, ByteBuffer memory) {
    this.sort = sort;
    this.domain = domain;
    this.region = region;
    this.address = address;
    this.memory = memory;
  }

  /** The key that it has, or has had last. */
  @Nullable KeyLifetime life() {
    return life;
  }

  /** Its present key, if that is one of a window of type 2 and opens it for sure. */
  @Nullable KeyLifetime windowLife() {
    KeyLifetime now = life;
    return sort == Sort.OWN_WINDOW && now != null && now.isSure() ? now : null;
  }

  /** A key that opens it no more, for sure; null if there is none. */
  @Nullable KeyLifetime dead() {
    KeyLifetime now = life;
    if (now != null && now.isOver()) {
      return now;
    }
    KeyLifetime last = before;
    return last != null && last.isOver() ? last : null;
  }

  /** The address behind its last byte. */
  long end() {
    return address + memory.capacity();
  }

  /** Whether a new key may be made. */
  boolean mayOpen() {
    KeyLifetime now = life;
    return now == null || (sort == Sort.DOMAIN_WINDOW ? now.isSure() : now.isOver());
  }

  private void live(KeyLifetime next) {
    KeyLifetime last = life;
    if (last != null && last.isOver()) {
      before = last;
    }
    life = next;
  }

  /**
   * A region: registers it, at once, or brings it back from another domain.
   *
   * @param elsewhere memory to register first and to turn away from, or null
   */
  void register(@Nullable ByteBuffer elsewhere) {
    MemoryRegion registered = own;
    if (registered != null && registered.protectionDomain() != domain) {
      registered.reregister(domain, null, RIGHTS);
    } else {
      closeRegion();
      registered = domain.register(elsewhere == null ? memory : elsewhere, RIGHTS);
      own = registered;
      if (elsewhere != null) {
        registered.reregister(null, memory, null);
      }
    }
    renew(registered, false).begin();
  }

  /** A region: gives it or takes it the right to be written to, or registers all of it again. */
  void reregister(boolean readOnly, boolean whole) {
    MemoryRegion registered = own;
    if (registered != null) {
      registered.reregister(null, whole ? memory : null, readOnly ? READING : RIGHTS);
      renew(registered, readOnly).begin();
    }
  }

  /** A region: puts it into a domain where its key opens nothing for this one's peers. */
  void banish(ProtectionDomain to) {
    MemoryRegion registered = own;
    if (registered != null) {
      registered.reregister(to, null, null);
      renew(registered, false).over();
    }
  }

  private KeyLifetime renew(MemoryRegion registered, boolean readOnly) {
    KeyLifetime now = life;
    if (now != null) {
      now.over();
    }
    KeyLifetime next = new KeyLifetime(registered.rkey(), registered.address(), readOnly);
    live(next);
    return next;
  }

  /** A window of type 2: fills a request that binds it. */
  KeyLifetime bind(SendWorkRequest request, boolean readOnly) {
    MemoryWindow bound = window(MemoryWindowType.TYPE_2B);
    int key = (bound.rkey() & ~0xff) | (bound.rkey() + 1 & 0xff);
    int access =
        Access.REMOTE_READ.bit()
            | (readOnly ? 0 : Access.REMOTE_WRITE.bit() | Access.REMOTE_ATOMIC.bit());
    request.bind(bound, key, region, access).buffer(address, memory.capacity(), region.lkey());
    KeyLifetime next = new KeyLifetime(key, address, readOnly);
    live(next);
    return next;
  }

  /** A window of type 1: fills a request that binds it, and tells the key only when posted. */
  void bindAnew(SendWorkRequest request) {
    request
        .bind(window(MemoryWindowType.TYPE_1), region, Access.REMOTE_ATOMIC.bit())
        .buffer(address, memory.capacity(), region.lkey());
    KeyLifetime last = life;
    if (last != null) {
      last.end();
    }
  }

  /** Such a request was posted. */
  KeyLifetime boundAnew() {
    before = life;
    KeyLifetime next = new KeyLifetime(window(MemoryWindowType.TYPE_1).rkey(), address, false);
    life = next;
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

  /** Deregisters or deallocates what makes its keys. */
  void close() {
    MemoryWindow allocated = window;
    if (allocated != null) {
      allocated.close();
      window = null;
    }
    closeRegion();
    KeyLifetime now = life;
    if (now != null) {
      now.over();
    }
  }

  private void closeRegion() {
    MemoryRegion registered = own;
    if (registered != null) {
      registered.close();
      own = null;
    }
  }
}
