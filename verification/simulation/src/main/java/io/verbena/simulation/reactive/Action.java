// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

/** The actions of one end of a connection. */
enum Action {
  /** Sends some messages. */
  SEND,
  /** Requests messages from the receive subscription, or subscribes if there is none. */
  REQUEST,
  CANCEL_RECEIVE,
  CANCEL_SEND,
  WRITE,
  READ,
  FETCH_ADD,
  COMPARE_SWAP,
  CANCEL_OPERATION,
  /** Starts a graceful close. */
  CLOSE,
  /** Disposes the connection without a close. */
  DISPOSE,
  /** Makes the receive subscriber or a publisher misbehave at its next call. */
  MISBEHAVE,
  /** Kills the host without a disconnect: its agents and its port stop for good. */
  DIE,
  /** Stalls one agent, which may be a completion loop, for some time. */
  STALL
}
