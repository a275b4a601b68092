// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.RdmaCore;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Destroys identifiers in a thread of its own. With iWARP the kernel destroys one that is being
 * connected only when its driver is done with that, as late as by the driver's own timeout ({@code
 * destroy_cm_id} of iwcm.c): a thread that waited there would keep all other connections waiting.
 */
final class IdentifierDestroyer {
  /** The time that its end may keep others waiting; what is left then is done nevertheless. */
  private static final long CLOSE_NANOS = 3_000_000_000L;

  private final RdmaCore core;
  private final String device;

  /** There only once it is needed. */
  private @Nullable ExecutorService thread;

  /**
   * @param device its name
   */
  IdentifierDestroyer(RdmaCore core, String device) {
    this.core = core;
    this.device = device;
  }

  /** Destroys an identifier that only the kernel still uses. */
  synchronized void destroy(long identifier) {
    ExecutorService running = thread;
    if (running == null) {
      running = Executors.newSingleThreadExecutor(this::newThread);
      thread = running;
    }
    running.execute(() -> core.destroyIdentifier(identifier));
  }

  private Thread newThread(Runnable work) {
    Thread made = new Thread(work, device + "-identifiers");
    made.setDaemon(true);
    return made;
  }

  /**
   * Ends it.
   *
   * @param last what is to be done behind all that was asked for
   */
  void close(Runnable last) {
    ExecutorService running;
    synchronized (this) {
      running = thread;
    }
    if (running == null) {
      last.run();
      return;
    }
    running.execute(last);
    running.shutdown();
    try {
      running.awaitTermination(CLOSE_NANOS, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
