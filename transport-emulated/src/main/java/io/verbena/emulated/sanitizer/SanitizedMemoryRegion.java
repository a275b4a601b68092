// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.Access;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A memory region that records the work requests that name it, and the rights that they use. */
final class SanitizedMemoryRegion implements MemoryRegion {
  private static final Set<Access> REMOTE =
      Set.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);

  private final WatchedDevice device;
  private final MemoryRegion region;
  private final TrackedObject tracked;
  private volatile ProtectionDomain domain;
  private volatile WatchedRegion watched;

  SanitizedMemoryRegion(
      SanitizedDomain domain, MemoryRegion region, ByteBuffer memory, CallSite place) {
    this.domain = domain;
    this.region = region;
    device = domain.watched().device;
    tracked =
        TrackedObject.of(this, device, "memory region of " + region.length() + " bytes", place);
    watched = new WatchedRegion(domain.watched(), region, memory);
    device.add(watched);
  }

  MemoryRegion region() {
    return region;
  }

  @Override
  public ProtectionDomain protectionDomain() {
    return domain;
  }

  @Override
  public long address() {
    return region.address();
  }

  @Override
  public long length() {
    return region.length();
  }

  @Override
  public int lkey() {
    return region.lkey();
  }

  @Override
  public int rkey() {
    return region.rkey();
  }

  @Override
  public Set<Access> access() {
    return region.access();
  }

  @Override
  public synchronized void reregister(
      @Nullable ProtectionDomain newDomain,
      @Nullable ByteBuffer newBuffer,
      @Nullable Set<Access> newAccess) {
    CallSite place = CallSite.here();
    region.reregister(newDomain == null ? null : Unwrapped.domain(newDomain), newBuffer, newAccess);
    WatchedRegion before = watched;
    if (newDomain != null) {
      domain = newDomain;
    }
    WatchedDomain owner = domain instanceof SanitizedDomain ours ? ours.watched() : before.domain();
    ByteBuffer memory = newBuffer == null ? before.memory() : newBuffer.slice();
    device.remove(before, place);
    watched = new WatchedRegion(owner, region, memory);
    device.add(watched);
    Report report = new Report();
    checkOutstanding(before.close(), place, report);
    device.deliver(report);
  }

  @Override
  public void close() {
    CallSite place = CallSite.here();
    Report report = new Report();
    synchronized (this) {
      if (!tracked.isOpen()) {
        return;
      }
      region.close();
      tracked.closed();
      device.remove(watched, place);
      checkOutstanding(watched.close(), place, report);
      checkUnused(place, report);
    }
    device.deliver(report);
  }

  private static void checkOutstanding(Set<Posted> outstanding, CallSite place, Report report) {
    List<Posted> running = outstanding.stream().filter(Posted::mayRun).toList();
    if (!running.isEmpty()) {
      report.add(
          Finding.at(
              Finding.Kind.MEMORY_CLOSED_WHILE_POSTED,
              running.get(0).place,
              running.get(0)
                  + ": its memory region is closed before its completion was polled;"
                  + " work requests outstanding on it: "
                  + running.size(),
              "the region is closed",
              place));
    }
  }

  private void checkUnused(CallSite place, Report report) {
    EnumSet<Access> unused = EnumSet.noneOf(Access.class);
    unused.addAll(watched.unused());
    if (!unused.isEmpty() && !watched.domain().sawAllPeers()) {
      unused.removeAll(REMOTE);
    }
    if (!unused.isEmpty()) {
      report.add(
          Finding.at(
              Finding.Kind.ACCESS_NEVER_USED,
              tracked.place(),
              "rights: " + region.access() + " (never used: " + unused + ")",
              "the region is closed",
              place));
    }
  }
}
