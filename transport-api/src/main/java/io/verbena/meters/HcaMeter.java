// SPDX-License-Identifier: Apache-2.0
package io.verbena.meters;

import io.verbena.verbs.CompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * Measures a device that a transport uses. This class does nothing: it is {@link #OFF}. Methods of
 * subclasses throw nothing, and any thread may call them.
 */
public class HcaMeter implements AutoCloseable {
  /** A meter that does nothing. */
  public static final HcaMeter OFF = new HcaMeter();

  /** For subclasses, which count. */
  protected HcaMeter() {}

  /**
   * Called when a connection was made.
   *
   * @param state read when somebody looks
   * @param slots one more than the highest slot number of its send queue
   * @return the connection's meter, for its loop's thread; closed when its queue pair is
   */
  public ConnectionMeter connection(ConnectionState state, int slots) {
    return ConnectionMeter.OFF;
  }

  /** Changes the number of entries of all completion queues. */
  public void completionQueues(long entries) {}

  /** Changes the number of those entries that are reserved for connections. */
  public void completionsReserved(long entries) {}

  /**
   * Changes the number of receives in the shared receive queues, and of those that are promised to
   * peers.
   *
   * @param size that are kept posted
   * @param promised that peers may send into, now or when they have used what they have
   */
  public void receivePool(long size, long promised) {}

  /**
   * Called when a completion queue was polled.
   *
   * @param completions the number of completions, at least 1
   */
  public void polled(int completions) {}

  /**
   * Called when an operation failed, and its caller got the error.
   *
   * @param operation its name, for example {@code read} or {@code connect}
   * @param status the completion status, or null if it was not the HCA that failed it
   */
  public void failed(String operation, @Nullable CompletionStatus status, Throwable why) {}

  /**
   * Called when a completion loop of the device was found held up.
   *
   * @param nanos how long it had done no duty cycle by then
   */
  public void loopStalled(long nanos) {}

  /**
   * Called when a limit or an accept hook of a server refused a connection.
   *
   * @param code of the {@code RejectReason}
   */
  public void refused(int code) {}

  /**
   * Called when a channel that takes RDMA or TCP was connected, or accepted.
   *
   * @param medium the scheme of the HCA, or {@code tcp}
   */
  public void mediumChosen(String medium) {}

  /** Called when a connection asked a peer that was silent whether it is alive. */
  public void peerAsked() {}

  /** Called when a peer that was asked did not answer within the retries: it is dead. */
  public void peerFoundDead() {}

  /** Called before the device is closed. Idempotent. */
  @Override
  public void close() {}
}
