package io.verbena.simulation.reactive;

/** What an end may do in a turn of its own. */
enum Action {
  SEND,
  /** Asks for messages, of a new subscription if there is none. */
  ASK,
  CANCEL_RECEIVE,
  CANCEL_SEND,
  WRITE,
  READ,
  ADD,
  SWAP,
  CANCEL_OPERATION,
  /** Begins a graceful close. */
  CLOSE,
  /** Drops the connection. */
  DISPOSE,
  /** Somebody, a loop perhaps, gets no turns for a while. */
  HOLD
}
