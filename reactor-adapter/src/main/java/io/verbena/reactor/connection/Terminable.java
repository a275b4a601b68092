// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.verbena.RdmaException;
import org.jspecify.annotations.Nullable;

/** A connection, for parts that find a reason to end it. */
@FunctionalInterface
interface Terminable {

  /**
   * Ends the connection, unless it is ending; on the loop.
   *
   * @param why what went wrong, or null if nothing did
   */
  void terminate(@Nullable RdmaException why);
}
