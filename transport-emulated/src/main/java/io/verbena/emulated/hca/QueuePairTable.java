// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A hash table of queue pairs by number, with open addressing, since numbers are random. Lookups
 * and iteration take no lock and allocate nothing. Adding and removing exclude each other and take
 * constant time, except when queue pairs and slots of removed ones fill half of the table: then it
 * is rebuilt.
 */
final class QueuePairTable {
  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Object[].class);
  private static final Object REMOVED = new Object();
  private static final int LEAST_CAPACITY = 16;

  private volatile @Nullable Object[] slots = new @Nullable Object[LEAST_CAPACITY];

  /** The same queue pairs for iteration, stored close together. */
  private final Attachments all = new Attachments();

  /** The number of slots that are not empty. */
  private int used;

  private int live;

  /** Returns the queue pair with this number, or null. */
  @Nullable EmulatedQueuePair find(int number) {
    @Nullable Object[] table = slots;
    int mask = table.length - 1;
    for (int i = hash(number) & mask; ; i = (i + 1) & mask) {
      Object slot = SLOT.getAcquire(table, i);
      if (slot == null) {
        return null;
      }
      if (slot instanceof EmulatedQueuePair pair && pair.number() == number) {
        return pair;
      }
    }
  }

  /**
   * Calls an action with each queue pair that is in the table now, and with some of those added
   * meanwhile.
   */
  void forEach(Consumer<EmulatedQueuePair> action) {
    all.forEach(action);
  }

  /** Adds a queue pair with a unique number. */
  synchronized void add(EmulatedQueuePair pair) {
    if (2 * (used + 1) > slots.length) {
      rebuild();
    }
    insert(slots, pair);
    pair.place(all.add(pair));
    used++;
    live++;
  }

  /** Removes a queue pair of this table. */
  synchronized void remove(EmulatedQueuePair pair) {
    @Nullable Object[] table = slots;
    int mask = table.length - 1;
    int i = hash(pair.number()) & mask;
    while (table[i] != pair) {
      i = (i + 1) & mask;
    }
    SLOT.setRelease(table, i, REMOVED);
    all.remove(pair.place());
    live--;
  }

  /**
   * Rebuilds the table, with room for half as many changes as it has queue pairs before the next
   * rebuild.
   */
  private void rebuild() {
    @Nullable Object[] old = slots;
    int capacity = LEAST_CAPACITY;
    while (capacity < 3 * (live + 1)) {
      capacity <<= 1;
    }
    @Nullable Object[] fresh = new @Nullable Object[capacity];
    for (Object slot : old) {
      if (slot instanceof EmulatedQueuePair pair) {
        insert(fresh, pair);
      }
    }
    used = live;
    slots = fresh;
  }

  private static void insert(@Nullable Object[] table, EmulatedQueuePair pair) {
    int mask = table.length - 1;
    int i = hash(pair.number()) & mask;
    while (table[i] != null) {
      i = (i + 1) & mask;
    }
    SLOT.setRelease(table, i, pair);
  }

  private static int hash(int number) {
    return (number * 0x9E3779B9) >>> 7;
  }
}
