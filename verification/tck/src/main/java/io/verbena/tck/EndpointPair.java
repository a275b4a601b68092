// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Two connected endpoints.
 *
 * @param client the active side
 * @param server the passive side
 * @param identifiers the identifiers of the connection, or null if no connection manager was used
 */
record EndpointPair(Endpoint client, Endpoint server, @Nullable ConnectionIdentifiers identifiers) {

  /** Returns the same pair with client and server exchanged. */
  EndpointPair reversed() {
    return new EndpointPair(/* client= */ server, /* server= */ client, null);
  }

  /** Returns the identifiers of a pair that was connected by connection managers. */
  ConnectionIdentifiers requiredIdentifiers() {
    return Objects.requireNonNull(identifiers, "identifiers");
  }
}
