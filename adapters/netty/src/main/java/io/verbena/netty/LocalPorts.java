// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import java.net.InetAddress;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The local ports of this JVM's client channels. No two channels of one local address have the same
 * port to the same listener, whatever HCAs they are on. Thread-safe.
 */
final class LocalPorts {
  private static final int FIRST = 49_152;
  static final int COUNT = 65_536 - FIRST;

  private static final Set<Taken> TAKEN = ConcurrentHashMap.newKeySet();
  private static final AtomicInteger GIVEN = new AtomicInteger();

  private LocalPorts() {}

  /** A port that is taken until {@link #release}. */
  record Taken(InetAddress host, int port, String listener) {
    /** Releases the port; to be called once. */
    void release() {
      TAKEN.remove(this);
    }
  }

  /**
   * Takes a port.
   *
   * @param host the local address
   * @param listener the URI of the listener
   * @return the port; null if another channel has it
   */
  static @Nullable Taken take(InetAddress host, int port, URI listener) {
    Taken taken = new Taken(host, port, listener.getScheme() + "://" + listener.getRawAuthority());
    return TAKEN.add(taken) ? taken : null;
  }

  /**
   * Takes a free dynamic port.
   *
   * @param take takes a port; returns null if it is not free
   * @return the result of {@code take}; null if no port is free
   */
  static <T> @Nullable T takeFree(IntFunction<? extends @Nullable T> take) {
    int begin = next() - FIRST;
    for (int i = 0; i < COUNT; i++) {
      T taken = take.apply(FIRST + (begin + i) % COUNT);
      if (taken != null) {
        return taken;
      }
    }
    return null;
  }

  /** Returns the dynamic ports (RFC 6335, section 6) in turn. */
  static int next() {
    return FIRST + Math.floorMod(GIVEN.getAndIncrement(), COUNT);
  }
}
