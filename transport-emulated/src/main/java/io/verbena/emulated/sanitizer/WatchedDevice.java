// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.Device;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * What the sanitizer knows of one device: its regions by key, its dead keys, and its outstanding
 * work requests by token.
 */
final class WatchedDevice {
  private static final AtomicLong TOKENS = new AtomicLong();

  private final boolean throwing;
  private final IntFunction<ByteBuffer> memory;
  private final Set<Gid> gids;
  private final ConcurrentHashMap<Integer, WatchedRegion> byLocalKey = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<Integer, WatchedRegion> byRemoteKey = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<Long, Posted> posted = new ConcurrentHashMap<>();
  private final DeadKeys deadKeys = new DeadKeys();
  private volatile @Nullable TrackedObject tracked;

  /**
   * @param memory allocates memory for a twin; its argument is the length in bytes
   */
  WatchedDevice(Device device, boolean throwing, IntFunction<ByteBuffer> memory) {
    this.throwing = throwing;
    this.memory = memory;
    gids = Set.copyOf(device.port().gids());
  }

  void track(TrackedObject value) {
    tracked = value;
  }

  /**
   * Allocates memory for a twin.
   *
   * @throws OutOfMemoryError if the JVM has no memory left
   */
  ByteBuffer allocate(int length) {
    return memory.apply(length);
  }

  @Nullable TrackedObject tracked() {
    return tracked;
  }

  boolean has(Gid gid) {
    return gids.contains(gid);
  }

  DeadKeys deadKeys() {
    return deadKeys;
  }

  void deliver(Report report) {
    report.deliver(throwing);
  }

  /** Reports the findings of a verb that threw {@code failure}. */
  void deliver(Report report, Throwable failure) {
    report.deliver(throwing, failure);
  }

  static long nextToken() {
    return TOKENS.incrementAndGet();
  }

  void add(Posted request) {
    posted.put(request.token, request);
  }

  void forget(Posted request) {
    posted.remove(request.token);
  }

  @Nullable Posted posted(long token) {
    return posted.get(token);
  }

  void add(WatchedRegion region) {
    byLocalKey.put(region.localKey(), region);
    deadKeys.reborn(region.localKey());
    if (region.remoteKey() != 0) {
      byRemoteKey.put(region.remoteKey(), region);
      deadKeys.reborn(region.remoteKey());
    }
  }

  void remove(WatchedRegion region, CallSite place) {
    if (byLocalKey.remove(region.localKey(), region)) {
      deadKeys.died(region.localKey(), place);
    }
    if (region.remoteKey() != 0 && byRemoteKey.remove(region.remoteKey(), region)) {
      deadKeys.died(region.remoteKey(), place);
    }
  }

  @Nullable WatchedRegion byLocalKey(int key) {
    return byLocalKey.get(key);
  }

  @Nullable WatchedRegion byRemoteKey(int key) {
    return byRemoteKey.get(key);
  }
}
