// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.verbs.QueuePair;
import io.verbena.verbs.provider.QueuePairListener;
import java.util.concurrent.ConcurrentHashMap;

/** Breaks a device after a queue pair has been made and before its creator receives it. */
public final class BreaksWhileOpening implements QueuePairListener {
  private static final ConcurrentHashMap<Thread, String> FUSES = new ConcurrentHashMap<>();

  /** Called by {@link java.util.ServiceLoader}. */
  public BreaksWhileOpening() {}

  /** Breaks the devices with this fuse when the calling thread creates its next queue pair. */
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
