// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Enforces the rules of the verbs SPI for registration, counts registrations, and resolves a key
 * and an address to bytes, as an HCA does.
 */
final class RecordingDomain implements ProtectionDomain {
  private final RecordingDevice device;
  private final ConcurrentHashMap<Integer, Region> open = new ConcurrentHashMap<>();
  private final AtomicInteger registrations = new AtomicInteger();
  private final AtomicInteger nextKey = new AtomicInteger(17);
  private final AtomicLong nextAddress = new AtomicLong(1L << 32);

  /** Runs in the thread that closes a region, before the region is closed. */
  private volatile Runnable closing = () -> {};

  /** Runs in the thread that registers, after everything else. */
  private volatile Runnable registered = () -> {};

  /** Number of registrations at which the domain starts to refuse. */
  private volatile int accepted = Integer.MAX_VALUE;

  private volatile Runnable beforeEach = () -> {};

  RecordingDomain() {
    this(new RecordingDevice());
  }

  RecordingDomain(RecordingDevice device) {
    this.device = device;
  }

  /** Refuses every registration after the next {@code count}. */
  void accept(int count) {
    accepted = registrations.get() + count;
  }

  /** Runs {@code action} in each thread that closes a region from now on, before it closes. */
  void whileClosing(Runnable action) {
    closing = action;
  }

  /**
   * Runs {@code action} at the end of each registration from now on, before the region is returned.
   */
  void whileRegistering(Runnable action) {
    registered = action;
  }

  /** Runs {@code action} at the start of each registration from now on. */
  void beforeEach(Runnable action) {
    beforeEach = action;
  }

  /** Returns the number of registrations. */
  int registrations() {
    return registrations.get();
  }

  List<Region> open() {
    return List.copyOf(open.values());
  }

  long openBytes() {
    return open.values().stream().mapToLong(Region::length).sum();
  }

  /** Returns the bytes that a local work request with this key and address accesses. */
  ByteBuffer local(int lkey, long address, int length) {
    Region region = open.get(lkey);
    if (region == null) {
      throw new AssertionError("lkey: " + lkey + " (expected: one that is open)");
    }
    return region.bytes(address, length);
  }

  /** Returns the bytes that a peer's READ with this key and address accesses. */
  ByteBuffer readByPeer(int rkey, long address, int length) {
    return open.values().stream()
        .filter(region -> rkey != 0 && region.rkey == rkey)
        .filter(region -> region.access.contains(Access.REMOTE_READ))
        .findAny()
        .orElseThrow(() -> new AssertionError("rkey: " + rkey + " (expected: one to read by)"))
        .bytes(address, length);
  }

  @Override
  public Device device() {
    return device;
  }

  @Override
  public MemoryRegion register(ByteBuffer buffer, Set<Access> access) {
    require(buffer.isDirect(), "buffer: on the heap");
    require(buffer.hasRemaining(), "buffer: empty");
    require(!(buffer.isReadOnly() && access.contains(Access.LOCAL_WRITE)), "buffer: read-only");
    require(
        access.contains(Access.LOCAL_WRITE)
            || !(access.contains(Access.REMOTE_WRITE) || access.contains(Access.REMOTE_ATOMIC)),
        "access: " + access);
    if (registrations.incrementAndGet() > accepted) {
      throw new VerbsException(VerbsError.NO_MEMORY, "register: no more regions");
    }
    beforeEach.run();
    Region region = new Region(buffer.slice(), Set.copyOf(access));
    open.put(region.lkey, region);
    registered.run();
    return region;
  }

  private static void require(boolean valid, String message) {
    if (!valid) {
      throw new VerbsException(VerbsError.INVALID, message);
    }
  }

  @Override
  public MemoryWindow allocateMemoryWindow(MemoryWindowType type) {
    throw RecordingDevice.notSupported();
  }

  @Override
  public QueuePair createQueuePair(QueuePairOptions options) {
    throw RecordingDevice.notSupported();
  }

  @Override
  public SharedReceiveQueue createSharedReceiveQueue(int maxWorkRequests, int maxScatterGather) {
    throw RecordingDevice.notSupported();
  }

  @Override
  public AddressHandle createAddressHandle(AddressVector vector) {
    throw RecordingDevice.notSupported();
  }

  @Override
  public void close() {
    if (!open.isEmpty()) {
      throw new VerbsException(VerbsError.BUSY, "close: regions open: " + open.size());
    }
  }

  /** A region that records whether it is open. */
  final class Region implements MemoryRegion {
    private final ByteBuffer memory;
    private final Set<Access> access;
    private final long address;
    private final int lkey = nextKey.getAndAdd(2);
    private final int rkey;

    private Region(ByteBuffer memory, Set<Access> access) {
      this.memory = memory;
      this.access = access;
      address = nextAddress.getAndAdd(memory.remaining() + 8192L);
      boolean remote =
          access.contains(Access.REMOTE_READ)
              || access.contains(Access.REMOTE_WRITE)
              || access.contains(Access.REMOTE_ATOMIC);
      rkey = remote ? lkey + 1 : 0;
    }

    private ByteBuffer bytes(long at, int length) {
      if (at < address || at + length > address + memory.capacity()) {
        throw new AssertionError(
            "address: "
                + at
                + " + "
                + length
                + " (expected: within "
                + address
                + " + "
                + memory.capacity()
                + ")");
      }
      return memory.slice((int) (at - address), length);
    }

    @Override
    public ProtectionDomain protectionDomain() {
      return RecordingDomain.this;
    }

    @Override
    public long address() {
      return address;
    }

    @Override
    public long length() {
      return memory.capacity();
    }

    @Override
    public int lkey() {
      return lkey;
    }

    @Override
    public int rkey() {
      return rkey;
    }

    @Override
    public Set<Access> access() {
      return access;
    }

    @Override
    public void reregister(
        @Nullable ProtectionDomain domain,
        @Nullable ByteBuffer buffer,
        @Nullable Set<Access> newAccess) {
      throw RecordingDevice.notSupported();
    }

    @Override
    public void close() {
      closing.run();
      if (!open.remove(lkey, this)) {
        throw new VerbsException(VerbsError.CLOSED, "region: closed twice");
      }
    }
  }
}
