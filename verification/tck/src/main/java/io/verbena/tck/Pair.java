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
record Pair(Endpoint client, Endpoint server, @Nullable Link link) {

  /** The same, seen from the other side. */
  Pair reversed() {
    return new Pair(/* client= */ server, /* server= */ client, null);
  }

  /** The identifiers of a pair that a connection manager connected. */
  Link connection() {
    return Objects.requireNonNull(link, "link");
  }
}
