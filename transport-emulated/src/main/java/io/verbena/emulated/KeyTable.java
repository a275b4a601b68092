package io.verbena.emulated;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * From a key to its memory region: open addressing, so that the whole 32 bits of a key may be
 * random. Finding takes no lock; adding and removing do.
 */
final class KeyTable {
  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Object[].class);
  private static final Object REMOVED = new Object();
  private static final int LEAST_CAPACITY = 64;

  private volatile @Nullable Object[] slots = new @Nullable Object[LEAST_CAPACITY];
  private int used;
  private int live;

  /** The region with this key, or null if there is none or it is closed. */
  @Nullable EmulatedMemoryRegion find(int key) {
    @Nullable Object[] table = slots;
    int mask = table.length - 1;
    for (int i = hash(key) & mask; ; i = (i + 1) & mask) {
      Object slot = SLOT.getAcquire(table, i);
      if (slot == null) {
        return null;
      }
      if (slot instanceof EmulatedMemoryRegion region && region.key() == key) {
        return region.isAlive() ? region : null;
      }
    }
  }

  /** Adds a region unless its key is taken. */
  synchronized boolean add(EmulatedMemoryRegion region) {
    if (find(region.key()) != null) {
      return false;
    }
    if (2 * (used + 1) > slots.length) {
      rebuild();
    }
    insert(slots, region);
    used++;
    live++;
    return true;
  }

  synchronized void remove(EmulatedMemoryRegion region) {
    @Nullable Object[] table = slots;
    int mask = table.length - 1;
    int i = hash(region.key()) & mask;
    while (table[i] != region) {
      i = (i + 1) & mask;
    }
    SLOT.setRelease(table, i, REMOVED);
    live--;
  }

  synchronized int size() {
    return live;
  }

  private void rebuild() {
    @Nullable Object[] old = slots;
    int capacity = LEAST_CAPACITY;
    while (capacity < 4 * (live + 1)) {
      capacity <<= 1;
    }
    @Nullable Object[] fresh = new @Nullable Object[capacity];
    for (Object slot : old) {
      if (slot instanceof EmulatedMemoryRegion region) {
        insert(fresh, region);
      }
    }
    used = live;
    slots = fresh;
  }

  private static void insert(@Nullable Object[] table, EmulatedMemoryRegion region) {
    int mask = table.length - 1;
    int i = hash(region.key()) & mask;
    while (table[i] != null) {
      i = (i + 1) & mask;
    }
    SLOT.setRelease(table, i, region);
  }

  private static int hash(int key) {
    return (key * 0x9E3779B9) >>> 7;
  }
}
