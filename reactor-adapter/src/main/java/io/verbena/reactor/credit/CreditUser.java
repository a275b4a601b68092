// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.credit;

/** A send, as one of those that share message credits. Called on the loop. */
public interface CreditUser {

  /** Returns whether it can use credits. */
  boolean wants();

  /** Returns whether it can use credits, or may come to. */
  boolean isUnfinished();

  /** Returns whether it has neither credits nor messages that wait for one. */
  boolean isIdle();

  /** Gives it so many credits: it may ask for as many messages. */
  void ask(int credits);

  /** Ends it with an error, unless it has ended. */
  void fail(Throwable error);
}
