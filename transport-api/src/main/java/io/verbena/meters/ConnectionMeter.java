// SPDX-License-Identifier: Apache-2.0
package io.verbena.meters;

import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.SendWorkRequest;

/**
 * Measures a connection; the thread of the connection's loop calls all methods. The methods of this
 * class do nothing; {@link #OFF} is an instance. Those of subclasses must not throw, and should
 * allocate nothing.
 */
public class ConnectionMeter implements AutoCloseable {
  /** A meter that does nothing. */
  public static final ConnectionMeter OFF = new ConnectionMeter();

  /** For subclasses. */
  protected ConnectionMeter() {}

  /**
   * Called before a work request is posted to the send queue.
   *
   * @param slot the request's slot in the send queue, free since {@link #completed} was called with
   *     it
   * @param request whose opcode and lengths may be read until this method returns
   */
  public void posted(int slot, SendWorkRequest request) {}

  /**
   * Called if the last work request of this slot does not count: its post was refused, or it has no
   * user.
   */
  public void forget(int slot) {}

  /** Called when a work request is done, by its own completion or a later one's. */
  public void completed(int slot, CompletionStatus status) {}

  /** Called for each message that is sent, with its length in bytes. */
  public void sent(int bytes) {}

  /** Called for each message that is received, with its length in bytes. */
  public void received(int bytes) {}

  /**
   * Called when the connection is over; requests that are still posted are not reported.
   * Idempotent.
   */
  @Override
  public void close() {}
}
