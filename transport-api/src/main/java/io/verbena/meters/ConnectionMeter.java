package io.verbena.meters;

import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.SendWorkRequest;

/**
 * What is told of a connection, on the thread of its loop. This one tells nobody: it is {@link
 * #OFF}. Methods of subclasses throw nothing and allocate nothing.
 */
public class ConnectionMeter implements AutoCloseable {
  /** Tells nobody. */
  public static final ConnectionMeter OFF = new ConnectionMeter();

  /** For subclasses, which count. */
  protected ConnectionMeter() {}

  /**
   * A work request is about to be posted to the send queue.
   *
   * @param slot its place there, free since {@link #completed} was told of it
   * @param request of which only the opcode and the lengths are looked at, before this returns
   */
  public void posted(int slot, SendWorkRequest request) {}

  /** What was posted last to this slot does not count: it was refused, or is nobody's. */
  public void forget(int slot) {}

  /** A work request is known to be done, by its own completion or by that of a later one. */
  public void completed(int slot, CompletionStatus status) {}

  /** A message was put on its way. */
  public void sent(int bytes) {}

  /** A message came in. */
  public void received(int bytes) {}

  /** The connection is over; what is still posted will not be told of. Idempotent. */
  @Override
  public void close() {}
}
