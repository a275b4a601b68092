// SPDX-License-Identifier: Apache-2.0
package io.verbena.meters;

import io.verbena.verbs.CompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * Measures a device that a transport uses. The methods of this class do nothing; {@link #OFF} is an
 * instance. Any thread may call them; those of subclasses must not throw.
 */
public class HcaMeter implements AutoCloseable {
  /** A meter that does nothing. */
  public static final HcaMeter OFF = new HcaMeter();

  /** For subclasses. */
  protected HcaMeter() {}

  /**
   * Called when a connection is made.
   *
   * @param state the connection's state, which may be read at any time
   * @param slots one more than the highest slot number of the connection's send queue
   * @return the connection's meter, which the thread of its loop calls; closed with the queue pair
   */
  public ConnectionMeter connection(ConnectionState state, int slots) {
    return ConnectionMeter.OFF;
  }

  /**
   * Called when the number of entries in all completion queues changes.
   *
   * @param entries the difference, negative when a queue is closed
   */
  public void completionQueues(long entries) {}

  /**
   * Called when the number of those entries that are reserved for connections changes.
   *
   * @param entries the difference, negative when a connection leaves
   */
  public void completionsReserved(long entries) {}

  /**
   * Called when the receives of shared receive queues change.
   *
   * @param size the difference in receives that are kept posted
   * @param promised the difference in receives that peers may send into, now or once they have used
   *     their credits
   */
  public void receivePool(long size, long promised) {}

  /**
   * Called when a poll of a completion queue has found completions.
   *
   * @param completions the number of completions, at least 1
   */
  public void polled(int completions) {}

  /**
   * Called when an operation has failed and its caller got the error.
   *
   * @param operation the name of the operation, for example {@code read} or {@code connect}
   * @param status the completion status, or null if the HCA gave none
   * @param why the error
   */
  public void failed(String operation, @Nullable CompletionStatus status, Throwable why) {}

  /**
   * Called when a completion loop of the device is found held up.
   *
   * @param nanos the time without a duty cycle so far, in nanoseconds
   */
  public void loopStalled(long nanos) {}

  /**
   * Called when a limit or an accept hook of a server refused a connection.
   *
   * @param code the code of the {@link io.verbena.RejectReason}
   */
  public void refused(int code) {}

  /**
   * Called when a channel that can use RDMA or TCP is connected or accepted.
   *
   * @param medium the scheme of the HCA, or {@code tcp}
   */
  public void mediumChosen(String medium) {}

  /** Called when a connection probes a silent peer ({@link io.verbena.RdmaOptions#keepAlive}). */
  public void peerAsked() {}

  /** Called when a probed peer did not answer within the retries, and so counts as dead. */
  public void peerFoundDead() {}

  /** Called before the device is closed. Idempotent. */
  @Override
  public void close() {}
}
