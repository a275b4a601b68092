package io.verbena.tck;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Two connected ends.
 *
 * @param client the one that asked
 * @param server the one that was asked
 * @param link how they were connected, or null if it was done by hand
 */
record EndpointPair(Endpoint client, Endpoint server, @Nullable ConnectionIdentifiers link) {

  /** The same, seen from the other side. */
  EndpointPair reversed() {
    return new EndpointPair(/* client= */ server, /* server= */ client, null);
  }

  /** The identifiers of a pair that a connection manager connected. */
  ConnectionIdentifiers connection() {
    return Objects.requireNonNull(link, "link");
  }
}
