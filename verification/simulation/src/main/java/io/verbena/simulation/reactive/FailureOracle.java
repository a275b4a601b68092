package io.verbena.simulation.reactive;

import io.verbena.ConnectionClosedException;
import io.verbena.OperationLimitException;
import io.verbena.PeerUnreachableException;
import io.verbena.RdmaException;
import io.verbena.RdmaOptions;
import io.verbena.RdmaTimeoutException;
import io.verbena.simulation.scenario.Violation;
import org.jspecify.annotations.Nullable;

/**
 * Whether a failure is explained: by the script, by what the wire did, or by another failure that
 * is. The two ends learn of one failure in any order, so the last is asked for at the end of a run.
 */
final class FailureOracle {
  private final PacketObserver watch;
  private final RdmaOptions options;
  private boolean disturbed;
  private boolean closing;
  private boolean broken;
  private @Nullable Violation unexplained;

  FailureOracle(PacketObserver watch, RdmaOptions options) {
    this.watch = watch;
    this.options = options;
  }

  /** The script drops the connection, or keeps somebody from working. */
  void disturb() {
    disturbed = true;
  }

  /** An end begins to close: what begins from now on may be refused. */
  void close() {
    closing = true;
  }

  boolean isClosing() {
    return closing;
  }

  /** Whether the connection may have failed. */
  boolean isBroken() {
    return broken || disturbed || unexplained != null;
  }

  /** Whether all that comes may end. */
  boolean explainsEnd() {
    return closing || isBroken();
  }

  /**
   * Something failed.
   *
   * @param late whether it was begun when the connection was closing
   */
  void failed(long now, String what, Throwable error, boolean late) {
    if (!(error instanceof RdmaException)) {
      throw new Violation(what + " fails with an untyped error", error);
    }
    if (error instanceof OperationLimitException
        || disturbed
        || (late && error instanceof ConnectionClosedException)
        || isRootExplained(now, error)) {
      return;
    }
    for (Throwable each = error; each != null; each = each.getCause()) {
      if (!(each instanceof ConnectionClosedException)) {
        throw new Violation(what + ": nothing explains its failure", error);
      }
    }
    if (unexplained == null) {
      unexplained = new Violation(what + ": neither end has a reason for its failure", error);
    }
  }

  private boolean isRootExplained(long now, Throwable error) {
    Throwable root = error;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    boolean explained;
    if (root instanceof PeerUnreachableException) {
      explained = watch.explainsRetries(now);
    } else if (root instanceof RdmaTimeoutException) {
      explained = watch.explainsDelay(now, options.closeTimeout().toNanos());
    } else {
      explained = root instanceof ConnectionClosedException && watch.explainsRetries(now);
    }
    broken |= explained;
    return explained;
  }

  /** The run is over: a lost peer must have had a reason. */
  void requireExplained() {
    if (unexplained != null && !broken && !disturbed) {
      throw unexplained;
    }
  }
}
