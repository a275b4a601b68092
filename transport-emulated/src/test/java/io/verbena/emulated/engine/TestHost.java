// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.mapped.PayloadReference;
import io.verbena.emulated.mapped.ReadGrant;
import io.verbena.verbs.Access;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** The HCA around an engine under test: memory in byte arrays, and lists of reported events. */
public final class TestHost implements EngineHost {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

  /** All rights. */
  public static final int ALL =
      Access.LOCAL_WRITE.bit()
          | Access.REMOTE_WRITE.bit()
          | Access.REMOTE_READ.bit()
          | Access.REMOTE_ATOMIC.bit();

  /** A completion of a send or a receive. */
  public record Done(
      long id,
      CompletionStatus status,
      @Nullable CompletionOpcode opcode,
      int byteLength,
      int immediate,
      int sourceQueuePair,
      int flags,
      boolean solicited) {
    @Override
    public String toString() {
      return id + " " + status + (opcode == null ? "" : " " + opcode + " " + byteLength);
    }
  }

  /** Memory under a key. */
  public static final class Region {
    public final long address;
    public final byte[] bytes;
    public final int key;
    public final int access;
    boolean gone;

    Region(long address, int size, int key, int access) {
      this.address = address;
      this.bytes = new byte[size];
      this.key = key;
      this.access = access;
    }

    /** Returns eight bytes in native byte order. */
    public long getLong(int offset) {
      return (long) LONG.get(bytes, offset);
    }

    /** Sets eight bytes in native byte order. */
    public void putLong(int offset, long value) {
      LONG.set(bytes, offset, value);
    }
  }

  private final List<Region> regions = new ArrayList<>();
  public final Queue<ReceiveWorkRequest> receives = new ArrayDeque<>();
  public final List<Done> sendsDone = new ArrayList<>();
  public final List<Done> receivesDone = new ArrayList<>();
  public final List<AsyncEvent.Type> events = new ArrayList<>();
  final Map<Counter, Integer> counts = new EnumMap<>(Counter.class);
  public final List<QueuePairState> moves = new ArrayList<>();
  final List<SendWorkRequest> bound = new ArrayList<>();
  boolean bindRefused;

  /**
   * Whether the peer can copy from the regions directly; each region is a slab named by its key.
   */
  boolean shares;

  int atomicsDone;
  Runnable ready = () -> {};

  /** Runs before each compare-and-swap, as a concurrent writer. */
  public Runnable beforeSwap = () -> {};

  private int nextKey = 0x100;
  private long nextAddress = 0x7f00_0000_0000L;

  public Region register(int size) {
    return register(size, ALL);
  }

  public Region register(int size, int access) {
    Region region = new Region(nextAddress, size, nextKey, access);
    nextKey += 0x101;
    nextAddress += size + 0x10000 & ~7L;
    regions.add(region);
    return region;
  }

  /** Invalidates a key; returns false if there is none. */
  public boolean forget(int key) {
    return regions.removeIf(region -> region.key == key);
  }

  boolean knows(int key) {
    return find(key) != null;
  }

  /** Returns the region of a key, or null. */
  public @Nullable Region find(int key) {
    for (int i = 0; i < regions.size(); i++) {
      if (regions.get(i).key == key) {
        return regions.get(i);
      }
    }
    return null;
  }

  /** Returns a region that was checked before. */
  private Region get(int key) {
    return Objects.requireNonNull(find(key));
  }

  private AccessResult check(int key, long address, long length, int access) {
    Region region = find(key);
    if (region == null
        || (region.access & access) != access
        || address < region.address
        || address + length > region.address + region.bytes.length) {
      return AccessResult.REFUSED;
    }
    return region.gone ? AccessResult.FAILED : AccessResult.GRANTED;
  }

  private AccessResult copyOut(
      int key, long address, ByteBuffer to, int offset, int length, int access) {
    AccessResult outcome = check(key, address, length, access);
    if (outcome == AccessResult.GRANTED) {
      Region region = get(key);
      to.put(offset, region.bytes, (int) (address - region.address), length);
    }
    return outcome;
  }

  private boolean refer(int key, long address, int length, int access, PayloadReference to) {
    if (!shares || check(key, address, length, access) != AccessResult.GRANTED) {
      return false;
    }
    to.place(key, (int) (address - get(key).address), key);
    return true;
  }

  private AccessResult copyIn(
      int key, long address, ByteBuffer from, int offset, int length, int access) {
    AccessResult outcome = check(key, address, length, access);
    if (outcome == AccessResult.GRANTED) {
      Region region = get(key);
      from.get(offset, region.bytes, (int) (address - region.address), length);
    }
    return outcome;
  }

  @Override
  public AccessResult checkLocal(int lkey, long address, int length, int access) {
    return check(lkey, address, length, access);
  }

  @Override
  public AccessResult readLocal(int lkey, long address, ByteBuffer to, int offset, int length) {
    return copyOut(lkey, address, to, offset, length, 0);
  }

  @Override
  public AccessResult writeLocal(int lkey, long address, ByteBuffer from, int offset, int length) {
    return copyIn(lkey, address, from, offset, length, Access.LOCAL_WRITE.bit());
  }

  @Override
  public AccessResult writeReceive(
      int lkey, long address, ByteBuffer from, int offset, int length) {
    return writeLocal(lkey, address, from, offset, length);
  }

  @Override
  public AccessResult checkRemote(int rkey, long address, long length, int access) {
    return check(rkey, address, length, access);
  }

  @Override
  public AccessResult readRemote(int rkey, long address, ByteBuffer to, int offset, int length) {
    return copyOut(rkey, address, to, offset, length, Access.REMOTE_READ.bit());
  }

  @Override
  public boolean referLocal(int lkey, long address, int length, PayloadReference to) {
    return refer(lkey, address, length, 0, to);
  }

  @Override
  public boolean referRemote(int rkey, long address, int length, PayloadReference to) {
    return refer(rkey, address, length, Access.REMOTE_READ.bit(), to);
  }

  @Override
  public boolean grantRemote(int rkey, long address, ReadGrant to) {
    if (!shares || check(rkey, address, 1, Access.REMOTE_READ.bit()) != AccessResult.GRANTED) {
      return false;
    }
    Region region = get(rkey);
    to.range(rkey, region.address, region.bytes.length).place(rkey, 0);
    return true;
  }

  @Override
  public AccessResult writeRemote(int rkey, long address, ByteBuffer from, int offset, int length) {
    return copyIn(rkey, address, from, offset, length, Access.REMOTE_WRITE.bit());
  }

  @Override
  public AccessResult compareAndSwap(
      int rkey, long address, long expected, long swap, AtomicResult result) {
    beforeSwap.run();
    AccessResult outcome = check(rkey, address, Long.BYTES, Access.REMOTE_ATOMIC.bit());
    if (outcome == AccessResult.GRANTED) {
      Region region = get(rkey);
      int at = (int) (address - region.address);
      result.original(region.getLong(at));
      if (result.original() == expected) {
        region.putLong(at, swap);
      }
      atomicsDone++;
    }
    return outcome;
  }

  @Override
  public AccessResult fetchAndAdd(int rkey, long address, long addend, AtomicResult result) {
    AccessResult outcome = check(rkey, address, Long.BYTES, Access.REMOTE_ATOMIC.bit());
    if (outcome == AccessResult.GRANTED) {
      Region region = get(rkey);
      int at = (int) (address - region.address);
      result.original(region.getLong(at));
      region.putLong(at, result.original() + addend);
      atomicsDone++;
    }
    return outcome;
  }

  @Override
  public boolean invalidateLocally(int key) {
    return forget(key);
  }

  @Override
  public boolean invalidateRemotely(int rkey) {
    return forget(rkey);
  }

  @Override
  public boolean bind(SendWorkRequest request) {
    if (!bindRefused) {
      bound.add(request);
    }
    return !bindRefused;
  }

  @Override
  public boolean takeReceive(ReceiveWorkRequest into) {
    ReceiveWorkRequest next = receives.poll();
    if (next == null) {
      return false;
    }
    into.id(next.id()).buffers().copyFrom(next.buffers());
    return true;
  }

  @Override
  public void receiveDone(
      long id,
      CompletionOpcode opcode,
      int byteLength,
      int immediate,
      int sourceQueuePair,
      int flags,
      boolean solicited) {
    receivesDone.add(
        new Done(
            id,
            CompletionStatus.SUCCESS,
            opcode,
            byteLength,
            immediate,
            sourceQueuePair,
            flags,
            solicited));
  }

  @Override
  public void receiveFailed(long id, CompletionStatus status) {
    receivesDone.add(new Done(id, status, null, 0, 0, 0, 0, true));
  }

  @Override
  public void sendDone(
      long position, SendWorkRequest request, CompletionOpcode opcode, int byteLength) {
    sendsDone.add(
        new Done(request.id(), CompletionStatus.SUCCESS, opcode, byteLength, 0, 0, 0, false));
  }

  @Override
  public void sendFailed(long position, SendWorkRequest request, CompletionStatus status) {
    sendsDone.add(new Done(request.id(), status, null, 0, 0, 0, 0, false));
  }

  @Override
  public void count(Counter counter) {
    counts.merge(counter, 1, Integer::sum);
  }

  @Override
  public void raise(AsyncEvent.Type event) {
    events.add(event);
  }

  @Override
  public void moved(QueuePairState to) {
    moves.add(to);
  }

  @Override
  public void ready() {
    ready.run();
  }
}
