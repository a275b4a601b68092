// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.Gid;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The IP addresses that have recently been proven: from each came a message that only the receiver
 * of one of our messages can send. Bounded: the address with the oldest proof is forgotten first.
 */
final class ProvenAddresses {
  static final int MOST = 1024;
  private static final long REMEMBERED_NANOS = 600_000_000_000L;

  /** The time of each address's last proof in nanoseconds, the oldest first. */
  private final Map<Gid, Long> moments = new LinkedHashMap<>();

  void add(Gid address, long now) {
    moments.remove(address);
    moments.put(address, now);
    if (moments.size() > MOST) {
      Iterator<Gid> oldest = moments.keySet().iterator();
      oldest.next();
      oldest.remove();
    }
  }

  boolean contains(Gid address, long now) {
    Long moment = moments.get(address);
    return moment != null && now - moment < REMEMBERED_NANOS;
  }
}
