// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.verbs.Gid;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The hosts of this JVM, also those of other class loaders. Their files are not to be looked at:
 * whoever closes a file loses all locks that its process has on it.
 */
final class OwnHosts {
  private static final String KEY = OwnHosts.class.getName();

  private OwnHosts() {}

  @SuppressWarnings("unchecked") // nobody else puts anything there
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

  /** Held by whoever looks at the file of another host: a JVM locks a file once. */
  static Object monitor() {
    return all();
  }

  /** Of a class that all class loaders share. */
  private static String name(Gid host) {
    return host.high() + ":" + host.low();
  }
}
