package io.verbena.verbs;

/**
 * The states of a queue pair.
 *
 * <pre>
 *  RESET -> INIT -> RTR -> RTS <-> SQD
 *             |      |      |  \     |
 *             |      |      |   SQE  |      any state -> RESET
 *             +------+------+----+---+-> ERR
 * </pre>
 */
public enum QueuePairState {
  /** Just created: nothing may be posted. */
  RESET,
  /** Receives may be posted; what arrives is dropped. */
  INIT,
  /** Ready to receive: the responder works, sends are refused. */
  RTR,
  /** Ready to send: everything works. */
  RTS,
  /** Send queue draining: what was begun is finished, nothing new starts. */
  SQD,
  /** Send queue error, on UC and UD only: the responder still works. */
  SQE,
  /** Everything pending and everything posted from now on completes as flushed. */
  ERR
}
