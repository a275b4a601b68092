// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.misuse;

import java.util.ArrayList;
import java.util.List;

/**
 * A misdeed in a callback at a moment.
 *
 * @param operation the operation that has the callback
 * @param signal the callback
 */
record Misuse(Operation operation, Signal signal, Misdeed misdeed, Moment moment) {

  /** Returns all misuses at this moment. */
  static List<Misuse> at(Moment moment) {
    List<Misuse> all = new ArrayList<>();
    for (Operation operation : Operation.values()) {
      for (Signal signal : operation.signals()) {
        for (Misdeed misdeed : Misdeed.values()) {
          Misuse misuse = new Misuse(operation, signal, misdeed, moment);
          if (misuse.isPossible()) {
            all.add(misuse);
          }
        }
      }
    }
    return all;
  }

  private boolean isPossible() {
    if (moment == Moment.WITHIN && operation == Operation.HANDLER) {
      return false;
    }
    if (operation == Operation.ACCEPT_HOOK
        && (misdeed.needsConnection() || (moment != Moment.CONNECTED && moment != Moment.DYING))) {
      return false;
    }
    if (operation.isOfServer() && (moment != Moment.CONNECTED || misdeed.needsConnection())) {
      return false;
    }
    if (misdeed.isRelease()) {
      return operation == Operation.SOURCE
          ? signal == Signal.REQUEST
          : signal == Signal.ON_NEXT && operation.yieldsBuffers();
    }
    if (misdeed.isOfPublishers()) {
      return (operation == Operation.SOURCE || operation == Operation.ACCEPT_HOOK)
          && signal == Signal.REQUEST;
    }
    if (misdeed.needsConnection() && operation == Operation.CONNECT) {
      return signal == Signal.ON_NEXT || signal == Signal.ON_COMPLETE;
    }
    return !misdeed.needsSubscription()
        || !operation.isPublishing()
        || (operation == Operation.SOURCE && misdeed == Misdeed.CANCELS);
  }

  /**
   * Returns whether the callback is certain to be called; otherwise something may end it before.
   */
  boolean isCertain() {
    return switch (signal) {
      case ON_SUBSCRIBE -> true;
      case ON_ERROR ->
          operation.lastsAsTheConnection()
              ? isUndisturbed()
              : operation != Operation.SEND || moment != Moment.DYING;
      default -> isUndisturbed();
    };
  }

  private boolean isUndisturbed() {
    return moment.compareTo(Moment.TRAFFIC) <= 0;
  }

  /** Returns whether the subscriber of a connect throws when it receives the connection. */
  boolean refusesAConnection() {
    return operation == Operation.CONNECT
        && misdeed.isThrow()
        && (signal == Signal.ON_NEXT || signal == Signal.ON_COMPLETE);
  }

  /** Returns whether the connection is to end gracefully before it is disposed. */
  boolean isGraceful() {
    return moment == Moment.CLOSING
        || (signal == Signal.ON_COMPLETE && operation.lastsAsTheConnection());
  }

  @Override
  public String toString() {
    return operation + " " + signal + " " + misdeed + " " + moment;
  }
}
