// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import java.util.Iterator;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The dead keys of a device (of closed regions and windows, invalidated, or replaced by a bind),
 * each with the place where it died. Holds the last 65536.
 */
final class DeadKeys {
  private static final int MOST = 1 << 16;

  private final LinkedHashMap<Integer, CallSite> dead = new LinkedHashMap<>();

  synchronized void died(int key, CallSite place) {
    dead.put(key, place);
    if (dead.size() > MOST) {
      Iterator<Integer> oldest = dead.keySet().iterator();
      oldest.next();
      oldest.remove();
    }
  }

  /** Notes that the key is valid again. */
  synchronized void reborn(int key) {
    dead.remove(key);
  }

  /** Returns the place where this key died, or null if the key is not known to be dead. */
  synchronized @Nullable CallSite place(int key) {
    return dead.get(key);
  }
}
