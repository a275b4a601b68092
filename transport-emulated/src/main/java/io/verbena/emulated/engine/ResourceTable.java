// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.Psn;
import org.jspecify.annotations.Nullable;

/**
 * The last READs and atomics that a responder executed, so that it can answer duplicates of them
 * (IBTA volume 1, responder resources). It has room for as many as the peer may have outstanding; a
 * new one replaces the oldest.
 */
final class ResourceTable {
  /** Entries are created when they are first used. */
  private @Nullable Resource[] resources = {};

  private int next;

  /** One READ or atomic. */
  static final class Resource {
    private boolean used;
    private boolean atomic;
    private int firstPsn;
    private int packets;

    /** The value before an atomic. */
    final AtomicResult result = new AtomicResult();

    private long address;
    private int rkey;
    private long length;

    /** Returns whether a repeated request lies within this READ. */
    boolean covers(long address, int rkey, long length) {
      return rkey == this.rkey
          && address - this.address >= 0
          && length <= this.length
          && address + length - this.address <= this.length;
    }

    int firstPsn() {
      return firstPsn;
    }
  }

  /** Makes room for {@code capacity} entries and removes all. */
  void reset(int capacity) {
    resize(capacity);
    for (Resource resource : resources) {
      if (resource != null) {
        resource.used = false;
      }
    }
    next = 0;
  }

  /** Makes room for {@code capacity} entries and keeps the last ones. */
  void resize(int capacity) {
    int old = resources.length;
    if (old == capacity) {
      return;
    }
    int kept = Math.min(old, capacity);
    @Nullable Resource[] resized = new @Nullable Resource[capacity];
    for (int i = 0; i < kept; i++) {
      resized[i] = resources[(next + old - kept + i) % old];
    }
    resources = resized;
    next = kept == capacity ? 0 : kept;
  }

  int capacity() {
    return resources.length;
  }

  /**
   * Returns the result object of the next atomic; {@link #addAtomic} makes it part of the table.
   */
  AtomicResult nextResult() {
    return next().result;
  }

  private Resource next() {
    Resource resource = resources[next];
    if (resource == null) {
      resource = new Resource();
      resources[next] = resource;
    }
    return resource;
  }

  void addAtomic(int psn) {
    add(true, psn, 1);
  }

  void addRead(int firstPsn, int packets, long address, int rkey, long length) {
    Resource resource = add(false, firstPsn, packets);
    resource.address = address;
    resource.rkey = rkey;
    resource.length = length;
  }

  private Resource add(boolean atomic, int firstPsn, int packets) {
    Resource resource = next();
    next = next + 1 == resources.length ? 0 : next + 1;
    resource.used = true;
    resource.atomic = atomic;
    resource.firstPsn = firstPsn;
    resource.packets = packets;
    return resource;
  }

  /**
   * Returns the latest READ, or atomic, with this PSN, or null. An earlier one with this PSN is a
   * whole cycle of PSNs older.
   */
  @Nullable Resource find(boolean atomic, int psn) {
    for (int i = resources.length; i > 0; i--) {
      Resource resource = resources[(next + i - 1) % resources.length];
      if (resource != null && resource.used && resource.atomic == atomic) {
        int packet = Psn.difference(psn, resource.firstPsn);
        if (packet >= 0 && packet < resource.packets) {
          return resource;
        }
      }
    }
    return null;
  }
}
