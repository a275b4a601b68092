// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.verbs.QueuePair;
import io.verbena.verbs.provider.QueuePairListener;
import java.util.concurrent.ConcurrentHashMap;

/** Breaks devices while a queue pair is made, once it is there and before anybody has it. */
public final class BreaksWhileOpening implements QueuePairListener {
  private static final ConcurrentHashMap<Thread, String> FUSES = new ConcurrentHashMap<>();

  /** For {@link java.util.ServiceLoader}. */
  public BreaksWhileOpening() {}

  /** Breaks those with this fuse by the next queue pair that the caller's thread makes. */
  static void next(String fuse) {
    FUSES.put(Thread.currentThread(), fuse);
  }

  @Override
  public void opened(QueuePair pair) {
    String fuse = FUSES.remove(Thread.currentThread());
    if (fuse != null) {
      DeviceFault.inject(fuse);
    }
  }

  @Override
  public void closed(QueuePair pair) {}
}
