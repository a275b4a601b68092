// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.guard;

import io.verbena.RdmaException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.util.Logger;
import reactor.util.Loggers;

/**
 * Logs failures that no caller may get: those of established connections, and of accepts. Logs at
 * most 20 lines in ten seconds, and 5 for one host, so that other hosts have room; the next line
 * says how many were left out. Thread-safe.
 *
 * <p>It uses Reactor's loggers: these log to SLF4J where that is on the class path, or else to the
 * console, or to {@code java.util.logging} with {@code -Dreactor.logging.fallback=JDK}.
 */
public final class FailureLog {
  /** The name of the logger. */
  public static final String NAME = "io.verbena.connection";

  private static final int BURST = 20;
  private static final int SHARE = 5;
  private static final long WINDOW_NANOS = Duration.ofSeconds(10).toNanos();
  private static final FailureLog INSTANCE =
      new FailureLog(Loggers.getLogger(NAME), System::nanoTime);

  private final Logger logger;
  private final LongSupplier clock;

  private boolean begun;
  private long windowStart;
  private int inWindow;
  private long leftOut;

  /** Lines in the window by host. */
  private final Map<String, Integer> byHost = new HashMap<>();

  FailureLog(Logger logger, LongSupplier clock) {
    this.logger = logger;
    this.clock = clock;
  }

  /** Returns the log of this JVM. */
  public static FailureLog get() {
    return INSTANCE;
  }

  /**
   * Logs a failure at level warn, with the stack trace of its cause if there is one.
   *
   * @param why names the operation, the peer, and the status where there is one
   */
  public void failed(RdmaException why) {
    long before = admit(host(why.peer()));
    if (before < 0) {
      return;
    }
    String text = why.getMessage();
    if (before > 0) {
      text += "; " + before + " failures before it were not logged";
    }
    Throwable thrown = why.getCause();
    if (thrown == null) {
      logger.warn(text);
    } else {
      logger.warn(text, thrown);
    }
  }

  /** Returns how many were left out since the last line, or -1 if this one is to be left out. */
  private synchronized long admit(String host) {
    long now = clock.getAsLong();
    if (!begun || now - windowStart >= WINDOW_NANOS) {
      begun = true;
      windowStart = now;
      inWindow = 0;
      byHost.clear();
    }
    int ofHost = byHost.getOrDefault(host, 0);
    if (inWindow == BURST || ofHost == SHARE) {
      leftOut++;
      return -1;
    }
    inWindow++;
    byHost.put(host, ofHost + 1);
    long before = leftOut;
    leftOut = 0;
    return before;
  }

  /** Returns a peer's address without the port; all peers without an address count as one host. */
  private static String host(@Nullable String peer) {
    if (peer == null) {
      return "";
    }
    int port = peer.lastIndexOf(':');
    return port < 0 ? peer : peer.substring(0, port);
  }
}
