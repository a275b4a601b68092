// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.tck.Deviation;
import io.verbena.tck.VerbsTck;
import java.net.URI;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;

/** What every verbs provider must do, done over sockets of TCP. */
@Tag("once")
class IwarpVerbsTest extends VerbsTck {
  private static final int FEWER = 50;
  private static final AtomicInteger NEXT_PORT = new AtomicInteger(20_000);
  private static final ConcurrentHashMap<String, Integer> PORTS = new ConcurrentHashMap<>();

  @Override
  protected @Nullable Deviation deviation(String test) {
    return IwarpDifference.deviation(test);
  }

  @Override
  protected int iterations(int full) {
    return Math.max(1, full / FEWER);
  }

  @Override
  protected URI address(String name) {
    int port = PORTS.computeIfAbsent(name, unused -> NEXT_PORT.getAndIncrement());
    return URI.create("iwarp://" + Loopbacks.ADDRESS + ":" + port);
  }
}
