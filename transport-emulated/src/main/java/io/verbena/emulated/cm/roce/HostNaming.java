// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/** Maps addresses of a URI scheme to peers and listeners of an HCA. */
public interface HostNaming {

  /**
   * The destination of a connection.
   *
   * @param host the GID of the peer's HCA
   * @param port the port at the peer
   * @param mtu the largest path MTU to request, or null for that of this HCA
   * @param key the key that the peer must also have, or null to connect without a lock
   * @param name the human-readable peer address, for logs
   */
  record Destination(
      Gid host, int port, @Nullable Mtu mtu, @Nullable SharedSecret key, String name) {}

  /** A published port of a listener, until it is closed. */
  interface Claim extends AutoCloseable {
    /** Returns the listener's address. */
    URI address();

    @Override
    void close();
  }

  /** A parsed address to listen on. */
  interface Asked {
    /** Returns the port in the address, or 0 for any free port. */
    int port();

    /** Returns the key that connecting peers must have, or null. */
    @Nullable SharedSecret key();

    /**
     * Publishes a port of a listener; returns null if the caller has to try another port.
     *
     * @throws VerbsException {@code ADDRESS_IN_USE} if another process listens on the address,
     *     whatever the port
     */
    @Nullable Claim claim(int port);
  }

  /**
   * Parses an address to listen on.
   *
   * @throws VerbsException {@code INVALID}, {@code ADDRESS_IN_USE} or {@code NOT_SUPPORTED} if this
   *     HCA cannot listen on the address
   */
  Asked listen(PortSpace space, URI address);

  /**
   * Parses an address to connect to.
   *
   * @throws VerbsException {@code INVALID} or {@code NOT_SUPPORTED} if this HCA cannot connect to
   *     the address
   */
  Destination resolve(PortSpace space, URI address);

  /** Returns the human-readable address of a peer that has connected to this HCA, for logs. */
  String name(Gid host, int port);
}
