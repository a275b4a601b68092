// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.Access;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.PostException;
import io.verbena.verbs.ScatterGatherList;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import org.jspecify.annotations.Nullable;

/**
 * A memory window: a part of a region under another key.
 *
 * <pre>{@code
 *        bind: with valid region, range and rights; type 2 also: length above 0
 * unbound ----------------------------------------------------------------------> bound
 *    ^   invalidate (type 2, by the queue pair that bound it), bind with length 0    |
 *    +------------------ (type 1), another bind (type 1, then bound anew) <----------+
 * }</pre>
 *
 * <p>The rules of binds and invalidations are those of IBTA volume 1, as cited in the kernel's
 * rxe_mw.c. The window changes under the monitor of the device's {@link KeyTable}; no thread waits
 * while it holds that monitor.
 */
public final class EmulatedMemoryWindow implements MemoryWindow, KeyEntry.Holder {
  private static final int MW_BIND = Access.MW_BIND.bit();
  private static final int WRITES = Access.REMOTE_WRITE.bit() | Access.REMOTE_ATOMIC.bit();
  private static final int ALL = WRITES | Access.REMOTE_READ.bit();

  private final EmulatedProtectionDomain domain;
  private final MemoryWindowType type;
  private final KeyTable keys;
  private final KeyEntry key;

  /** The key that {@link #rkey} returns: of the last posted bind (type 1) or the last bind (2B). */
  private volatile int announced;

  private volatile boolean closed;
  private @Nullable EmulatedMemoryRegion region;
  private @Nullable EmulatedQueuePair owner;

  private EmulatedMemoryWindow(EmulatedProtectionDomain domain, MemoryWindowType type, int value) {
    this.domain = domain;
    this.type = type;
    keys = domain.device().keys();
    key = new KeyEntry(this, value);
    announced = value;
  }

  static EmulatedMemoryWindow allocate(EmulatedProtectionDomain domain, MemoryWindowType type) {
    EmulatedDevice device = domain.device();
    while (true) {
      int value = device.fabric().secrets().nextInt();
      EmulatedMemoryWindow window = new EmulatedMemoryWindow(domain, type, value);
      if (window.key.index != 0 && device.keys().add(window.key)) {
        return window;
      }
    }
  }

  /**
   * Checks a bind before it is posted.
   *
   * @throws PostException if it is not a valid bind of this type of window with objects of this
   *     device
   */
  static void checkBind(SendWorkRequest request, MemoryWindowType type, EmulatedDevice device) {
    if (request.opcode() != SendOpcode.BIND_MW) {
      throw invalid(request, "opcode: " + request.opcode() + " (expected: BIND_MW)");
    }
    if (!(request.window() instanceof EmulatedMemoryWindow window)
        || !(request.windowRegion() instanceof EmulatedMemoryRegion region)
        || window.domain.device() != device
        || region.protectionDomain().device() != device) {
      throw invalid(request, "bind: a window and a region of this device are needed");
    }
    if (window.type != type) {
      throw invalid(request, "bind: window of " + window.type + " (expected: " + type + ")");
    }
    int entries = request.buffers().size();
    if (entries > 1 || (type == MemoryWindowType.TYPE_2B && entries == 0)) {
      throw invalid(request, "bind: buffers: " + entries + " (expected: 1)");
    }
    if (request.inlineData() != null) {
      throw invalid(request, "bind: inline data (expected: a buffer of the region)");
    }
    if ((request.windowAccess() & ~ALL) != 0) {
      throw invalid(
          request, "bind: access: " + request.windowAccess() + " (expected: bits of " + ALL + ")");
    }
    if (window.closed || region.isClosed()) {
      throw new PostException(
          VerbsError.CLOSED,
          request.id(),
          "bind: the " + (window.closed ? "window" : "region") + " is closed");
    }
    if (type == MemoryWindowType.TYPE_1 && window.domain != region.protectionDomain()) {
      throw invalid(request, "bind: the region is of another domain than the window");
    }
  }

  private static PostException invalid(SendWorkRequest request, String message) {
    return new PostException(VerbsError.INVALID, request.id(), message);
  }

  /** Takes the next key, for a bind of type 1 that is about to be posted. */
  int takeKey() {
    synchronized (keys) {
      announced = neighbour(announced, 1);
      return announced;
    }
  }

  /** Gives back a key from {@link #takeKey} after the bind was not posted. */
  void giveBackKey(int taken) {
    synchronized (keys) {
      if (announced == taken) {
        announced = neighbour(taken, -1);
      }
    }
  }

  private int neighbour(int value, int step) {
    return key.index << Byte.SIZE | (value + step & 0xff);
  }

  /**
   * Executes a checked BIND_MW; returns false if the bind is refused. Called by the owner of the
   * send queue.
   */
  public static boolean bind(SendWorkRequest request, EmulatedQueuePair by) {
    return request.window() instanceof EmulatedMemoryWindow window && window.bindTo(request, by);
  }

  private boolean bindTo(SendWorkRequest request, EmulatedQueuePair by) {
    synchronized (keys) {
      if (!mayBind(request, by)) {
        return false;
      }
      if (type == MemoryWindowType.TYPE_2B) {
        setBound(request, by);
        return true;
      }
      unbind();
    }
    // Needed even if the window was unbound before: a thread that found the key earlier may still
    // use it.
    by.beginWait();
    domain.device().awaitCopies(key);
    by.endWait();
    synchronized (keys) {
      // Another queue pair of the domain may have bound the window meanwhile.
      boolean still = region == null && mayBind(request, by);
      if (still) {
        setBound(request, by);
      }
      return still;
    }
  }

  private boolean mayBind(SendWorkRequest request, EmulatedQueuePair by) {
    if (closed || domain != by.protectionDomain()) {
      return false;
    }
    long length = request.buffers().totalLength();
    if (type == MemoryWindowType.TYPE_2B && (region != null || length == 0)) {
      return false;
    }
    if (length == 0) {
      return true;
    }
    if (!(request.windowRegion() instanceof EmulatedMemoryRegion target)) {
      return false;
    }
    KeyEntry memory = target.liveKeyIn(domain, MW_BIND);
    return memory != null
        && ((request.windowAccess() & WRITES) == 0 || target.access().contains(Access.LOCAL_WRITE))
        && memory.contains(request.buffers().address(0), length);
  }

  private void setBound(SendWorkRequest request, EmulatedQueuePair by) {
    ScatterGatherList buffers = request.buffers();
    key.rename(request.remoteKey());
    if (buffers.totalLength() > 0
        && request.windowRegion() instanceof EmulatedMemoryRegion target) {
      boolean own = type == MemoryWindowType.TYPE_2B;
      key.show(
          own ? by : domain,
          target.key(),
          buffers.address(0),
          buffers.length(0),
          request.windowAccess());
      target.bound();
      region = target;
      owner = own ? by : null;
    }
    if (type == MemoryWindowType.TYPE_2B) {
      announced = key.value();
    }
  }

  private void unbind() {
    key.kill();
    if (region != null) {
      region.unbound();
    }
    region = null;
    owner = null;
  }

  @Override
  public boolean invalidate(int dead, EmulatedQueuePair by, boolean remotely) {
    synchronized (keys) {
      if (closed
          || type == MemoryWindowType.TYPE_1
          || key.value() != dead
          || domain != by.protectionDomain()) {
        return false;
      }
      if (region == null) {
        return true;
      }
      if (owner != by) {
        return false;
      }
      unbind();
    }
    if (key.isShared()) {
      domain.device().fabric().withdraw(key);
    }
    if (!remotely) {
      // A remote invalidation need not wait: only the peer's send queue could use the key, and its
      // owner is executing this invalidation.
      by.beginWait();
      by.awaitCopies();
      by.endWait();
    }
    return true;
  }

  @Override
  public EmulatedProtectionDomain protectionDomain() {
    return domain;
  }

  @Override
  public MemoryWindowType type() {
    return type;
  }

  @Override
  public int rkey() {
    return announced;
  }

  /**
   * {@inheritDoc}
   *
   * <p>A second call also returns only when no thread copies any more.
   */
  @Override
  public void close() {
    boolean first;
    synchronized (keys) {
      first = !closed;
      if (first) {
        closed = true;
        unbind();
        keys.remove(key);
      }
    }
    domain.device().awaitCopies(key);
    if (first) {
      domain.closed(EmulatedProtectionDomain.Kind.MEMORY_WINDOW);
    }
  }
}
