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
final class Door {
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

  final Sort sort;
  private final ProtectionDomain domain;
  private final MemoryRegion region;
  private final long address;
  private final ByteBuffer memory;
  private @Nullable MemoryWindow window;
  private @Nullable MemoryRegion own;
  private @Nullable Life life;
  private @Nullable Life before;

  /**
   * A door that is closed.
   *
   * @param region where it leads to
   * @param address of the first byte
   * @param memory the bytes
   */
  Door(Sort sort, ProtectionDomain domain, MemoryRegion region, long address, ByteBuffer memory) {
    this.sort = sort;
    this.domain = domain;
    this.region = region;
    this.address = address;
    this.memory = memory;
  }

  /** The key that it has, or has had last. */
  @Nullable Life life() {
    return life;
  }

  /** Its present key, if that is one of a window of type 2 and opens it for sure. */
  @Nullable Life windowLife() {
    Life now = life;
    return sort == Sort.OWN_WINDOW && now != null && now.isSure() ? now : null;
  }

  /** A key that opens it no more, for sure; null if there is none. */
  @Nullable Life dead() {
    Life now = life;
    if (now != null && now.isOver()) {
      return now;
    }
    Life last = before;
    return last != null && last.isOver() ? last : null;
  }

  /** The address behind its last byte. */
  long end() {
    return address + memory.capacity();
  }

  /** Whether a new key may be made. */
  boolean mayOpen() {
    Life now = life;
    return now == null || (sort == Sort.DOMAIN_WINDOW ? now.isSure() : now.isOver());
  }

  private void live(Life next) {
    Life last = life;
    if (last != null && last.isOver()) {
      before = last;
    }
    life = next;
  }

  /** A region: registers it, at once. */
  void register() {
    closeRegion();
    MemoryRegion registered = domain.register(memory, RIGHTS);
    own = registered;
    Life next = new Life(registered.rkey(), registered.address(), false);
    next.begin();
    live(next);
  }

  /** A window of type 2: fills a request that binds it. */
  Life bind(SendWorkRequest request, boolean readOnly) {
    MemoryWindow bound = window(MemoryWindowType.TYPE_2B);
    int key = (bound.rkey() & ~0xff) | (bound.rkey() + 1 & 0xff);
    int access =
        Access.REMOTE_READ.bit()
            | (readOnly ? 0 : Access.REMOTE_WRITE.bit() | Access.REMOTE_ATOMIC.bit());
    request.bind(bound, key, region, access).buffer(address, memory.capacity(), region.lkey());
    Life next = new Life(key, address, readOnly);
    live(next);
    return next;
  }

  /** A window of type 1: fills a request that binds it, and tells the key only when posted. */
  void bindAnew(SendWorkRequest request) {
    request
        .bind(window(MemoryWindowType.TYPE_1), region, Access.REMOTE_ATOMIC.bit())
        .buffer(address, memory.capacity(), region.lkey());
    Life last = life;
    if (last != null) {
      last.end();
    }
  }

  /** Such a request was posted. */
  Life boundAnew() {
    before = life;
    Life next = new Life(window(MemoryWindowType.TYPE_1).rkey(), address, false);
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
    Life now = life;
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
