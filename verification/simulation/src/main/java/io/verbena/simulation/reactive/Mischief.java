// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import java.util.List;

/**
 * The misbehavior of a subscriber to received messages, or of a publisher of messages to send, at
 * its next call.
 */
enum Mischief {
  THROW_ON_SUBSCRIBE,
  THROW_ON_NEXT,
  THROW_ON_COMPLETE,
  THROW_ON_ERROR,
  CANCEL_ON_NEXT,
  CLOSE_ON_NEXT,
  DISPOSE_ON_NEXT,
  SEND_ON_NEXT,
  READ_ON_NEXT,
  /** Does not return for some time, during which no other agent on its host runs. */
  BLOCK_ON_NEXT,
  PUBLISHER_THROWS_ON_SUBSCRIBE,
  PUBLISHER_THROWS_ON_REQUEST,
  PUBLISHER_THROWS_ON_CANCEL,
  /** Fails, as if the function that maps its items threw. */
  PUBLISHER_FAILS;

  private static final List<Mischief> ALL = List.of(values());

  /** The number of kinds. */
  static final int COUNT = ALL.size();

  /** Returns the kind with a number from 1 to {@link #COUNT}. */
  static Mischief of(int number) {
    return ALL.get(number - 1);
  }

  /** Returns whether the layer ends the connection in response, and not only the affected send. */
  boolean endsConnection() {
    return this != PUBLISHER_THROWS_ON_SUBSCRIBE && this != PUBLISHER_FAILS;
  }

  /** Thrown by a subscriber or publisher that misbehaves. */
  static final class Thrown extends RuntimeException {
    private static final long serialVersionUID = 1;

    Thrown(Mischief mischief) {
      super(mischief.name(), null, false, false);
    }
  }

  /** Returns whether this error or one of its causes is a {@link Thrown}. */
  static boolean isCauseOf(Throwable error) {
    for (Throwable each = error; each != null; each = each.getCause()) {
      if (each instanceof Thrown) {
        return true;
      }
    }
    return false;
  }
}
