package io.verbena.emulated;

import io.verbena.verbs.Access;
import io.verbena.verbs.Capability;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A direct buffer that the HCA reaches by a key and an address of its own. */
final class EmulatedMemoryRegion implements MemoryRegion {
  private static final int PAGE = 4096;
  private static final int REMOTE =
      Access.REMOTE_READ.bit() | Access.REMOTE_WRITE.bit() | Access.REMOTE_ATOMIC.bit();

  final EmulatedProtectionDomain domain;
  final ByteBuffer memory;
  final long address;
  final int length;
  final int accessBits;

  private final int key;
  private final Set<Access> access;
  private volatile boolean alive = true;

  private EmulatedMemoryRegion(
      EmulatedProtectionDomain domain,
      ByteBuffer memory,
      long address,
      int key,
      Set<Access> access) {
    this.domain = domain;
    this.memory = memory;
    this.address = address;
    this.length = memory.capacity();
    this.key = key;
    this.access = access;
    this.accessBits = Access.bits(access);
  }

  static EmulatedMemoryRegion register(
      EmulatedProtectionDomain domain, ByteBuffer buffer, Set<Access> rights) {
    Set<Access> access = Set.copyOf(rights);
    EmulatedDevice device = domain.device();
    ByteBuffer memory = buffer.slice().order(ByteOrder.nativeOrder());
    // The HCA's address is congruent to the real one, so that alignment means the same on both.
    int offsetInPage = memory.alignmentOffset(0, PAGE);
    long address = device.reserveAddresses(memory.capacity(), PAGE) + offsetInPage;
    while (true) {
      int key = device.fabric().secrets().nextInt();
      EmulatedMemoryRegion region = new EmulatedMemoryRegion(domain, memory, address, key, access);
      if (key != 0 && device.addRegion(region)) {
        return region;
      }
    }
  }

  int key() {
    return key;
  }

  boolean isAlive() {
    return alive;
  }

  /** Whether {@code bytes} from {@code from} on lie within the region. */
  boolean contains(long from, long bytes) {
    long offset = from - address;
    return offset >= 0 && offset <= length - bytes;
  }

  int offset(long at) {
    return (int) (at - address);
  }

  @Override
  public EmulatedProtectionDomain protectionDomain() {
    return domain;
  }

  @Override
  public long address() {
    return address;
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public int lkey() {
    return key;
  }

  @Override
  public int rkey() {
    return (accessBits & REMOTE) == 0 ? 0 : key;
  }

  @Override
  public Set<Access> access() {
    return access;
  }

  @Override
  public void reregister(
      @Nullable ProtectionDomain newDomain,
      @Nullable ByteBuffer newBuffer,
      @Nullable Set<Access> newAccess) {
    domain.device().attributes().require(Capability.REREGISTRATION);
  }

  @Override
  public void close() {
    synchronized (this) {
      if (!alive) {
        return;
      }
      alive = false;
    }
    domain.device().removeRegion(this);
    domain.closed(EmulatedProtectionDomain.Kind.MEMORY_REGION);
  }
}
