// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The translation and protection table, from a key to the entry of its region or window. It is a
 * hash table with open addressing by the key's upper 24 bits, which are random and do not change
 * when a window is bound again. Lookups take no lock; adding and removing do.
 */
public final class KeyTable {
  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Object[].class);
  private static final Object REMOVED = new Object();
  private static final int LEAST_CAPACITY = 64;

  private volatile @Nullable Object[] slots = new @Nullable Object[LEAST_CAPACITY];
  private int used;
  private int live;

  /** Returns the entry that this key opens now, or null. */
  public @Nullable KeyEntry find(int key) {
    KeyEntry entry = entry(key);
    return entry != null && entry.isOpenedBy(key) ? entry : null;
  }

  /** Returns the entry that this key opens, has opened or may open in the future, or null. */
  @Nullable KeyEntry entry(int key) {
    @Nullable Object[] table = slots;
    int mask = table.length - 1;
    int index = KeyEntry.index(key);
    for (int i = hash(index) & mask; ; i = (i + 1) & mask) {
      Object slot = SLOT.getAcquire(table, i);
      if (slot == null) {
        return null;
      }
      if (slot instanceof KeyEntry entry && entry.index == index) {
        return entry;
      }
    }
  }

  /** Adds an entry; returns false if another entry has the same upper 24 bits. */
  public synchronized boolean add(KeyEntry key) {
    if (entry(key.value()) != null) {
      return false;
    }
    if (2 * (used + 1) > slots.length) {
      rebuild();
    }
    insert(slots, key);
    used++;
    live++;
    return true;
  }

  /** Removes an entry of this table. */
  public synchronized void remove(KeyEntry key) {
    @Nullable Object[] table = slots;
    int mask = table.length - 1;
    int i = hash(key.index) & mask;
    while (table[i] != key) {
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
      if (slot instanceof KeyEntry key) {
        insert(fresh, key);
      }
    }
    used = live;
    slots = fresh;
  }

  private static void insert(@Nullable Object[] table, KeyEntry key) {
    int mask = table.length - 1;
    int i = hash(key.index) & mask;
    while (table[i] != null) {
      i = (i + 1) & mask;
    }
    SLOT.setRelease(table, i, key);
  }

  private static int hash(int index) {
    return (index * 0x9E3779B9) >>> 7;
  }
}
