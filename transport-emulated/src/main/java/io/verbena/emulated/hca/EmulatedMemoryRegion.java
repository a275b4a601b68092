// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.emulated.mapped.SharedPlace;
import io.verbena.verbs.Access;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.RegistrationLimits;
import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A direct buffer that is registered with the HCA, which accesses it by a key and a device address.
 */
public final class EmulatedMemoryRegion implements MemoryRegion, KeyEntry.Holder {
  private static final int PAGE = 4096;
  private static final int REMOTE =
      Access.REMOTE_READ.bit() | Access.REMOTE_WRITE.bit() | Access.REMOTE_ATOMIC.bit();

  /**
   * The registration of a region; {@link #reregister} replaces it.
   *
   * @param domain its domain
   * @param access its rights
   * @param key its entry in the table
   */
  private record Registration(EmulatedProtectionDomain domain, Set<Access> access, KeyEntry key) {}

  private final EmulatedDevice device;
  private volatile Registration registration;

  // Written under the monitor of the device's keys.
  private volatile boolean closed;
  private int windows;

  private EmulatedMemoryRegion(
      EmulatedProtectionDomain domain, ByteBuffer memory, Set<Access> access) {
    device = domain.device();
    registration = enter(domain, memory, addressOf(memory, device), access);
  }

  static EmulatedMemoryRegion register(
      EmulatedProtectionDomain domain, ByteBuffer buffer, Set<Access> rights) {
    Confinement.check(buffer);
    return new EmulatedMemoryRegion(domain, buffer.slice(), Set.copyOf(rights));
  }

  /** Creates an entry with an unpredictable key. */
  private Registration enter(
      EmulatedProtectionDomain domain, ByteBuffer memory, long address, Set<Access> access) {
    SharedPlace place = device.fabric().placeOf(memory);
    while (true) {
      int value = device.fabric().secrets().nextInt();
      KeyEntry key = new KeyEntry(this, value, domain, memory, place, address, Access.bits(access));
      if (key.index != 0 && device.keys().add(key)) {
        return new Registration(domain, access, key);
      }
    }
  }

  /**
   * Returns a device address that is congruent to the real one modulo the page size, so that both
   * have the same alignment.
   */
  private static long addressOf(ByteBuffer memory, EmulatedDevice device) {
    long most = device.attributes().maxMemoryRegionSize();
    if (memory.capacity() > most) {
      throw new VerbsException(
          VerbsError.NO_MEMORY,
          "register memory: length: " + memory.capacity() + " (expected: 1.." + most + ")");
    }
    return device.reserveAddresses(memory.capacity(), PAGE) + memory.alignmentOffset(0, PAGE);
  }

  boolean isClosed() {
    return closed;
  }

  /** Returns the region's entry in the table of keys. */
  public KeyEntry key() {
    return registration.key;
  }

  /**
   * Returns the region's entry if it is alive, belongs to this domain, and has all the rights of
   * {@code needed}; otherwise null.
   */
  @Nullable KeyEntry liveKeyIn(EmulatedProtectionDomain domain, int needed) {
    Registration now = registration;
    return now.domain == domain && now.key.isAlive() && now.key.gives(needed) ? now.key : null;
  }

  /**
   * Counts a window that was bound to the region. Called, like {@link #unbound}, under the monitor
   * of the device's keys.
   */
  void bound() {
    windows++;
  }

  /** Stops counting a window that was unbound. */
  void unbound() {
    windows--;
  }

  @Override
  public boolean invalidate(int dead, EmulatedQueuePair by, boolean remotely) {
    synchronized (device.keys()) {
      Registration now = registration;
      if (remotely
          || closed
          || windows > 0
          || now.key.value() != dead
          || now.domain != by.protectionDomain()) {
        return false;
      }
      now.key.kill();
    }
    by.beginWait();
    device.awaitCopies(key());
    by.endWait();
    return true;
  }

  @Override
  public EmulatedProtectionDomain protectionDomain() {
    return registration.domain;
  }

  @Override
  public long address() {
    return registration.key.address();
  }

  @Override
  public long length() {
    return registration.key.length();
  }

  @Override
  public int lkey() {
    return registration.key.value();
  }

  @Override
  public int rkey() {
    Registration now = registration;
    return (Access.bits(now.access) & REMOTE) == 0 ? 0 : now.key.value();
  }

  @Override
  public Set<Access> access() {
    return registration.access;
  }

  @Override
  public void reregister(
      @Nullable ProtectionDomain newDomain,
      @Nullable ByteBuffer newBuffer,
      @Nullable Set<Access> newAccess) {
    if (newDomain == null && newBuffer == null && newAccess == null) {
      throw invalid("nothing to change (expected: a domain, a buffer or rights)");
    }
    device.requireWhole("reregister memory");
    if (newBuffer != null) {
      Confinement.check(newBuffer);
    }
    Registration before;
    EmulatedProtectionDomain to;
    synchronized (device.keys()) {
      if (closed) {
        throw new VerbsException(VerbsError.CLOSED, "reregister memory: the region is closed");
      }
      requireNoWindow("reregister memory");
      before = registration;
      to = newDomain == null ? before.domain : ours(newDomain);
      ByteBuffer memory = newBuffer == null ? before.key.memory() : newBuffer.slice();
      Set<Access> access = newAccess == null ? before.access : Set.copyOf(newAccess);
      RegistrationLimits.check(memory, access);
      long address = newBuffer == null ? before.key.address() : addressOf(memory, device);
      if (to != before.domain) {
        before.domain.give(EmulatedProtectionDomain.Kind.MEMORY_REGION, to);
      }
      registration = enter(to, memory, address, access);
      before.key.kill();
      device.keys().remove(before.key);
    }
    device.awaitCopies(before.key);
  }

  private EmulatedProtectionDomain ours(ProtectionDomain other) {
    if (other instanceof EmulatedProtectionDomain ours && ours.device() == device) {
      return ours;
    }
    throw invalid("the protection domain is another device's");
  }

  private static VerbsException invalid(String message) {
    return new VerbsException(VerbsError.INVALID, "reregister memory: " + message);
  }

  private void requireNoWindow(String verb) {
    if (windows > 0) {
      throw new VerbsException(
          VerbsError.BUSY, verb + ": windows bound: " + windows + " (expected: 0)");
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>A second call also returns only when no thread copies any more.
   */
  @Override
  public void close() {
    Registration last = deregister();
    device.awaitCopies(key());
    if (last != null) {
      last.domain.closed(EmulatedProtectionDomain.Kind.MEMORY_REGION);
    }
  }

  /**
   * Removes the region's key; returns the registration, or null if the region was closed before.
   */
  private @Nullable Registration deregister() {
    KeyTable keys = device.keys();
    synchronized (keys) {
      if (closed) {
        return null;
      }
      requireNoWindow("deregister memory");
      closed = true;
      Registration last = registration;
      last.key.kill();
      keys.remove(last.key);
      return last;
    }
  }
}
