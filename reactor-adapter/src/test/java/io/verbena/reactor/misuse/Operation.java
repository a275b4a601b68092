// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.misuse;

import java.util.EnumSet;
import java.util.Set;

/** An operation that the user asks of a connection, or of the transport. */
enum Operation {
  RECEIVE,
  IMMEDIATES,
  SEND,
  /** The messages that a send subscribes to. */
  SOURCE,
  READ,
  READ_INTO,
  PIECES,
  WRITE,
  /** A write with immediate. */
  NOTICE,
  ATOMIC,
  CLOSE,
  ON_CLOSE,
  ON_PEER_CLOSING,
  CONNECT,
  BIND,
  SERVER_ON_CLOSE,
  /** The function that is given to bind, and the publisher that it returns. */
  HANDLER,
  /** The accept hook that is given to bind, and the publisher that it returns. */
  ACCEPT_HOOK;

  /** The callbacks of the user. */
  Set<Signal> signals() {
    return switch (this) {
      case RECEIVE, IMMEDIATES, READ, PIECES, ATOMIC, CONNECT, BIND ->
          EnumSet.of(Signal.ON_SUBSCRIBE, Signal.ON_NEXT, Signal.ON_ERROR, Signal.ON_COMPLETE);
      case SEND, READ_INTO, WRITE, NOTICE, CLOSE, ON_CLOSE ->
          EnumSet.of(Signal.ON_SUBSCRIBE, Signal.ON_ERROR, Signal.ON_COMPLETE);
      case ON_PEER_CLOSING, SERVER_ON_CLOSE -> EnumSet.of(Signal.ON_SUBSCRIBE, Signal.ON_COMPLETE);
      case SOURCE -> EnumSet.of(Signal.SUBSCRIBE, Signal.REQUEST, Signal.CANCEL);
      // Its cancel comes with the deadline, for which these tests do not wait.
      case ACCEPT_HOOK -> EnumSet.of(Signal.APPLY, Signal.SUBSCRIBE, Signal.REQUEST);
      case HANDLER -> EnumSet.of(Signal.APPLY, Signal.SUBSCRIBE, Signal.REQUEST, Signal.CANCEL);
    };
  }

  boolean isOneSided() {
    return switch (this) {
      case READ, READ_INTO, PIECES, WRITE, NOTICE, ATOMIC -> true;
      default -> false;
    };
  }

  /** Returns whether it ends only with the connection. */
  boolean lastsAsTheConnection() {
    return switch (this) {
      case RECEIVE, IMMEDIATES, CLOSE, ON_CLOSE, ON_PEER_CLOSING -> true;
      default -> false;
    };
  }

  /** Returns whether it is a server's, so that no connection need be there. */
  boolean isOfServer() {
    return this == BIND || this == SERVER_ON_CLOSE;
  }

  /** Returns whether the user's code is called as a server accepts a connection. */
  boolean isOfAccepting() {
    return this == HANDLER || this == ACCEPT_HOOK;
  }

  /** Returns whether the user's code is a publisher's or a function, and no subscriber's. */
  boolean isPublishing() {
    return this == SOURCE || isOfAccepting();
  }

  boolean yieldsBuffers() {
    return this == RECEIVE || this == READ || this == PIECES;
  }
}
