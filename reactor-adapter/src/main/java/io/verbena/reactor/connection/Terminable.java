// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.verbena.RdmaException;
import org.jspecify.annotations.Nullable;

/** A connection, for its parts that may have to end it. */
@FunctionalInterface
interface Terminable {

  /**
   * Ends the connection, unless it is ending; on the loop.
   *
   * @param why the failure, or null
   */
  void terminate(@Nullable RdmaException why);
}
