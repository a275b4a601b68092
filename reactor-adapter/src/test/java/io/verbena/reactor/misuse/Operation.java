// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.misuse;

import java.util.EnumSet;
import java.util.Set;

/** An operation of a connection or of the transport. */
enum Operation {
  RECEIVE,
  IMMEDIATES,
  SEND,
  /** The publisher of messages for a send. */
  SOURCE,
  READ,
  READ_INTO,
  PIECES,
  WRITE,
  /** A write with immediate data. */
  NOTICE,
  ATOMIC,
  CLOSE,
  ON_CLOSE,
  ON_PEER_CLOSING,
  CONNECT,
  BIND,
  SERVER_ON_CLOSE,
  /** The handler function given to bind, and the publisher that it returns. */
  HANDLER,
  /** The accept hook given to bind, and the publisher that it returns. */
  ACCEPT_HOOK;

  /** Returns the callbacks of user code. */
  Set<Signal> signals() {
    return switch (this) {
      case RECEIVE, IMMEDIATES, READ, PIECES, ATOMIC, CONNECT, BIND ->
          EnumSet.of(Signal.ON_SUBSCRIBE, Signal.ON_NEXT, Signal.ON_ERROR, Signal.ON_COMPLETE);
      case SEND, READ_INTO, WRITE, NOTICE, CLOSE, ON_CLOSE ->
          EnumSet.of(Signal.ON_SUBSCRIBE, Signal.ON_ERROR, Signal.ON_COMPLETE);
      case ON_PEER_CLOSING, SERVER_ON_CLOSE -> EnumSet.of(Signal.ON_SUBSCRIBE, Signal.ON_COMPLETE);
      case SOURCE -> EnumSet.of(Signal.SUBSCRIBE, Signal.REQUEST, Signal.CANCEL);
      // A hook is cancelled at its deadline, for which these tests do not wait.
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

  /** Returns whether the operation ends only with the connection. */
  boolean lastsAsTheConnection() {
    return switch (this) {
      case RECEIVE, IMMEDIATES, CLOSE, ON_CLOSE, ON_PEER_CLOSING -> true;
      default -> false;
    };
  }

  /** Returns whether this is an operation of a server, which needs no connection. */
  boolean isOfServer() {
    return this == BIND || this == SERVER_ON_CLOSE;
  }

  /** Returns whether the user's code is called when a server accepts a connection. */
  boolean isOfAccepting() {
    return this == HANDLER || this == ACCEPT_HOOK;
  }

  /** Returns whether the user's code is a publisher or a function, rather than a subscriber. */
  boolean isPublishing() {
    return this == SOURCE || isOfAccepting();
  }

  boolean yieldsBuffers() {
    return this == RECEIVE || this == READ || this == PIECES;
  }
}
