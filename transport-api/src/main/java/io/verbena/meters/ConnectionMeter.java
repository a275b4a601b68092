// SPDX-License-Identifier: Apache-2.0
package io.verbena.meters;

import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.SendWorkRequest;

/**
 * Measures a connection; its loop's thread calls all methods. This class does nothing: it is {@link
 * #OFF}. Methods of subclasses throw nothing and allocate nothing.
 */
public class ConnectionMeter implements AutoCloseable {
  /** A meter that does nothing. */
  public static final ConnectionMeter OFF = new ConnectionMeter();

  /** For subclasses, which count. */
  protected ConnectionMeter() {}

  /**
   * Called before a work request is posted to the send queue.
   *
   * @param slot its slot there, free since {@link #completed} was called with it
   * @param request only its opcode and lengths are read, before this returns
   */
  public void posted(int slot, SendWorkRequest request) {}

  /**
   * Called if the last work request of this slot does not count: it was refused, or has no user.
   */
  public void forget(int slot) {}

  /** Called when a work request is done, by its own completion or by that of a later one. */
  public void completed(int slot, CompletionStatus status) {}

  /** Called for each message that is sent. */
  public void sent(int bytes) {}

  /** Called for each message that is received. */
  public void received(int bytes) {}

  /** Called when the connection is over; what is still posted is not reported. Idempotent. */
  @Override
  public void close() {}
}
