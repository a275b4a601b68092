// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.verbs.Gid;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The hosts of this JVM, including those of other class loaders. Their files must not be opened: a
 * process that closes a file loses all its locks on it.
 */
final class OwnHosts {
  private static final String KEY = OwnHosts.class.getName();

  private OwnHosts() {}

  @SuppressWarnings("unchecked") // no other class uses this property
  private static Set<Object> all() {
    return (Set<Object>)
        System.getProperties().computeIfAbsent(KEY, absent -> ConcurrentHashMap.newKeySet());
  }

  static void add(Gid host) {
    all().add(name(host));
  }

  static void remove(Gid host) {
    all().remove(name(host));
  }

  static boolean contains(Gid host) {
    return all().contains(name(host));
  }

  /**
   * Returns the monitor to hold while the file of another host is open: a JVM can lock a file only
   * once.
   */
  static Object monitor() {
    return all();
  }

  /** Returns a name of a host: a string, whose class all class loaders share. */
  private static String name(Gid host) {
    return host.high() + ":" + host.low();
  }
}
