// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.credit;

/** One of those that share message credits. Called on the loop. */
public interface CreditUser {

  /** Whether it can use credits. */
  boolean wants();

  /** Whether it can, or may come to. */
  boolean isUnfinished();

  /** Whether it has neither credits nor messages that wait for one. */
  boolean isIdle();

  /** Gives it so many credits: it may ask for as many messages. */
  void ask(int credits);

  /** Ends it with an error, unless it has ended. */
  void fail(Throwable error);
}
