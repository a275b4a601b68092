// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.credit;

/** A send that shares message credits with others. Called on the loop. */
public interface CreditUser {

  /** Returns whether it can use credits. */
  boolean wants();

  /** Returns whether it can use credits, now or later. */
  boolean isUnfinished();

  /** Returns whether it has neither credits nor messages that wait for one. */
  boolean isIdle();

  /** Gives it credits: it may request as many messages. */
  void ask(int credits);

  /** Ends it with an error, unless it has ended. */
  void fail(Throwable error);
}
