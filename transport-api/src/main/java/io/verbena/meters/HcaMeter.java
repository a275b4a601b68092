package io.verbena.meters;

import io.verbena.verbs.CompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * What is told of a device that a transport uses. This one tells nobody: it is {@link #OFF}.
 * Methods of subclasses throw nothing, and may be called by any thread.
 */
public class HcaMeter implements AutoCloseable {
  /** Tells nobody. */
  public static final HcaMeter OFF = new HcaMeter();

  /** For subclasses, which count. */
  protected HcaMeter() {}

  /**
   * A connection was made.
   *
   * @param state what it can be asked for
   * @param slots one more than the highest slot number of its send queue
   * @return for its loop's thread, to be closed when its queue pair is
   */
  public ConnectionMeter connection(ConnectionState state, int slots) {
    return ConnectionMeter.OFF;
  }

  /** Completion queues with so many entries more, or less, are there. */
  public void completionQueues(long entries) {}

  /** So many more of their entries, or less, are kept for what connections may have posted. */
  public void completionsReserved(long entries) {}

  /**
   * A completion queue was polled.
   *
   * @param completions how many were taken from it, at least 1
   */
  public void polled(int completions) {}

  /**
   * Something failed, and whoever asked for it was told.
   *
   * @param operation what, for example {@code read} or {@code connect}
   * @param status how the HCA ended it, or null if it was not the HCA
   */
  public void failed(String operation, @Nullable CompletionStatus status, Throwable why) {}

  /** The device is about to be closed. Idempotent. */
  @Override
  public void close() {}
}
