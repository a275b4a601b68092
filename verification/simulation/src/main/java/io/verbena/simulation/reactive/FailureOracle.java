// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.verbena.ConnectionClosedException;
import io.verbena.MemoryLimitException;
import io.verbena.OperationLimitException;
import io.verbena.PeerUnreachableException;
import io.verbena.RdmaException;
import io.verbena.RdmaTimeoutException;
import io.verbena.simulation.scenario.Violation;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a failure was allowed to happen: because of an action of the scenario, because of
 * faults on the wire, or because of another allowed failure. The two ends may learn of a failure in
 * either order, so failures of the last kind are decided at the end of a run.
 */
final class FailureOracle {
  private final PacketObserver packets;
  private final Settings settings;
  private boolean disrupted;
  private int disruptions;
  private boolean closing;
  private boolean failed;
  private @Nullable Violation unexplained;

  FailureOracle(PacketObserver packets, Settings settings) {
    this.packets = packets;
    this.settings = settings;
  }

  /**
   * Records that the scenario disposed the connection, stalled an agent, killed a host, or that a
   * subscriber threw.
   */
  void disrupt() {
    disrupted = true;
    disruptions++;
  }

  /** Records that an end starts to close: operations that start from now on may be refused. */
  void closing() {
    closing = true;
  }

  boolean isClosing() {
    return closing;
  }

  /** Returns whether exactly one disruption happened, and no close or failure. */
  boolean isDisruptedOnce() {
    return disruptions == 1 && !closing && !failed && unexplained == null;
  }

  /** Returns whether the connection may have failed. */
  boolean mayHaveFailed() {
    return failed || disrupted || unexplained != null;
  }

  /** Returns whether the streams of received messages may end. */
  boolean allowsEndOfStream() {
    return closing || mayHaveFailed();
  }

  /**
   * Records a failure.
   *
   * @param startedWhileClosing whether the operation started after the close
   */
  void recordFailure(long now, String what, Throwable error, boolean startedWhileClosing) {
    if (!(error instanceof RdmaException)) {
      throw new Violation(what + " failed with an untyped error", error);
    }
    if (isBroken(error) && !Mischief.isCauseOf(error)) {
      throw new Violation(what + ": the layer threw an exception", error);
    }
    if (error instanceof OperationLimitException
        || disrupted
        || (startedWhileClosing && error instanceof ConnectionClosedException)
        || isCauseAllowed(now, error)) {
      return;
    }
    for (Throwable each = error; each != null; each = each.getCause()) {
      if (!(each instanceof ConnectionClosedException)) {
        throw new Violation(what + ": failed without a reason", error);
      }
    }
    if (unexplained == null) {
      unexplained =
          new Violation(what + ": the connection was lost without a reason at either end", error);
    }
  }

  /** Returns whether the connection ended because a subscriber or the layer threw. */
  private static boolean isBroken(Throwable error) {
    for (Throwable each = error; each != null; each = each.getCause()) {
      if (each instanceof ConnectionClosedException closed && "signal".equals(closed.operation())) {
        return true;
      }
    }
    return false;
  }

  private boolean isCauseAllowed(long now, Throwable error) {
    Throwable root = error;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    boolean allowed;
    if (root instanceof PeerUnreachableException) {
      allowed = packets.allowsRetryExhaustion(now);
    } else if (root instanceof RdmaTimeoutException) {
      // At the memory limit, the long messages of both ends may wait for each other's memory.
      allowed =
          settings.hasLowCeiling() || packets.allowsTimeout(now, Settings.CLOSE_TIMEOUT.toNanos());
    } else if (root instanceof MemoryLimitException) {
      allowed = settings.hasLowCeiling();
    } else {
      // The peer disconnects if its end had too little memory for a graceful close.
      allowed =
          root instanceof ConnectionClosedException
              && (settings.hasLowCeiling() || packets.allowsRetryExhaustion(now));
    }
    failed |= allowed;
    return allowed;
  }

  /** Throws a violation if a connection was lost without any reason. Called at the end of a run. */
  void requireReason() {
    if (unexplained != null && !failed && !disrupted) {
      throw unexplained;
    }
  }
}
