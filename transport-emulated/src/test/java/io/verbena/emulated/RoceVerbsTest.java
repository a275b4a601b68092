// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.tck.Deviation;
import io.verbena.tck.VerbsTck;
import java.net.URI;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;

/** The verbs TCK in RoCEv2 packets between UDP sockets. */
@Tag("once")
class RoceVerbsTest extends VerbsTck {
  private static final int FEWER = 50;
  private static final AtomicInteger NEXT_PORT = new AtomicInteger(20_000);
  private static final ConcurrentHashMap<String, Integer> PORTS = new ConcurrentHashMap<>();

  @Override
  protected int iterations(int full) {
    return Math.max(1, full / FEWER);
  }

  @Override
  protected @Nullable Deviation deviation(String test) {
    return test.equals("UnreliableConnections.takesNothingFromAQueuePairThatItIsNotConnectedTo")
        ? Deviation.sometimes(
            "expected: WR_FLUSH_ERR",
            "a packet of UC names the queue pair that it goes to and none that it comes from (IBTA"
                + " vol. 1, base transport header): of two on one port the receiver knows no"
                + " difference, if it comes before the receiver stops")
        : null;
  }

  @Override
  protected URI address(String name) {
    int port = PORTS.computeIfAbsent(name, unused -> NEXT_PORT.getAndIncrement());
    return URI.create("roce://" + Loopbacks.ADDRESS + ":" + port);
  }
}
