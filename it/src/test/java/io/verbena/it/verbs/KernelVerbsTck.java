// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.verbs;

import io.verbena.tck.Deviation;
import io.verbena.tck.VerbsTck;
import io.verbena.verbs.CompletionStatus;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The TCK on the kernel's RDMA stack. */
abstract class KernelVerbsTck extends VerbsTck {
  private static final int SLOWER = 50;
  private static final int CODE_OF_2_SECONDS = 19;

  /** Outside the ports of other tests in this JVM (Addresses) and those that the CM chooses. */
  private static final AtomicInteger NEXT_PORT = new AtomicInteger(26_000);

  private static final ConcurrentHashMap<String, Integer> PORTS = new ConcurrentHashMap<>();

  private final String scheme;

  KernelVerbsTck(String scheme) {
    this.scheme = scheme;
  }

  @Override
  protected URI address(String name) {
    int port = PORTS.computeIfAbsent(scheme + name, n -> NEXT_PORT.getAndIncrement());
    return URI.create(scheme + "://" + System.getenv("VERBENA_NODE1") + ":" + port);
  }

  @Override
  protected Duration timeout() {
    return Duration.ofSeconds(30);
  }

  /** On a busy machine a guest may need the 67 ms of the default for an acknowledgement. */
  @Override
  protected int ackTimeout() {
    return CODE_OF_2_SECONDS;
  }

  @Override
  protected int iterations(int full) {
    return Math.max(1, full / SLOWER);
  }

  @Override
  protected CompletionStatus expectedStatus(String test, CompletionStatus specified) {
    return Difference.answer(test, specified);
  }

  @Override
  protected @Nullable Deviation deviation(String test) {
    return Difference.deviation(test);
  }
}
