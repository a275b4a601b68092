// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.lock.LockKey;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/** Maps addresses of a scheme to an HCA's peers and listeners. */
public interface HostNaming {

  /**
   * The destination of a connect.
   *
   * @param host the peer's HCA
   * @param port the port there
   * @param mtu the largest packets to ask for, or null for those of this HCA
   * @param key the key that the peer must have, too, or null to connect without a lock
   * @param name the human-readable peer address, for logs
   */
  record Destination(Gid host, int port, @Nullable Mtu mtu, @Nullable LockKey key, String name) {}

  /** A port that is listened on, until it is closed. */
  interface Claim extends AutoCloseable {
    /** Returns the listener's address. */
    URI address();

    @Override
    void close();
  }

  /** The content of an address to listen on. */
  interface Asked {
    /** Returns the port that it names, or 0 for any that is free. */
    int port();

    /** Returns the key that connecting peers must have, or null. */
    @Nullable LockKey key();

    /**
     * Publishes a port that is listened on; null if another port is to be tried.
     *
     * @throws VerbsException {@code ADDRESS_IN_USE} if another process listens on the address,
     *     whatever the port
     */
    @Nullable Claim claim(int port);
  }

  /**
   * Reads an address to listen on.
   *
   * @throws VerbsException {@code INVALID}, {@code ADDRESS_IN_USE} or {@code NOT_SUPPORTED} for one
   *     that cannot be listened on here
   */
  Asked listen(PortSpace space, URI address);

  /**
   * Reads an address to connect to.
   *
   * @throws VerbsException {@code INVALID} or {@code NOT_SUPPORTED} for one that cannot be reached
   *     from here
   */
  Destination resolve(PortSpace space, URI address);

  /** Returns the human-readable address of a peer that connected here, for logs. */
  String name(Gid host, int port);
}
