// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.RdmaCore;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Destroys {@code rdma_cm_id}s in a thread of its own. On iWARP, destroying an identifier that is
 * connecting waits until its driver has finished, at the latest by the driver's timeout ({@code
 * destroy_cm_id} of iwcm.c). In the caller's thread, that would block all other connections.
 */
final class IdentifierDestroyer {
  /**
   * The time that {@link #close} waits for the thread; the thread finishes its work in any case.
   */
  private static final long CLOSE_NANOS = 3_000_000_000L;

  private final RdmaCore core;
  private final String device;

  /** Created by the first call of {@link #destroy}. */
  private @Nullable ExecutorService thread;

  /**
   * @param device the device's name, for the thread's name
   */
  IdentifierDestroyer(RdmaCore core, String device) {
    this.core = core;
    this.device = device;
  }

  /** Destroys an identifier, in the thread; the caller uses it no more. */
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
   * Ends the thread, and waits up to 3 s for it.
   *
   * @param last runs after all identifiers are destroyed
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
