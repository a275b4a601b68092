package io.verbena.meters;

/**
 * What a connection can be asked for at any moment; on any thread, without a lock: a reading may be
 * a moment old.
 */
public interface ConnectionState {

  /** Work requests in the send queue that are not known to be done. */
  int sendQueueDepth();

  /** The most that it holds. */
  int sendQueueLimit();

  /** Credits of the peer that this end has not used, of a kind that its {@link MeteredHca} has. */
  int credits(Credit kind);
}
