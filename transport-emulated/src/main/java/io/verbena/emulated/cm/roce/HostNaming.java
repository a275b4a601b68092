// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.lock.LockKey;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/** What addresses of a scheme mean to an HCA: whom they reach, and what listens there. */
public interface HostNaming {

  /**
   * Where to connect.
   *
   * @param host the peer's HCA
   * @param port there
   * @param mtu the largest packets to ask for, or null for those of this HCA
   * @param key that the peer must have, too, or null to connect without a lock
   * @param name what the peer is called, for people
   */
  record Destination(Gid host, int port, @Nullable Mtu mtu, @Nullable LockKey key, String name) {}

  /** Somebody listens, until it is closed. */
  interface Claim extends AutoCloseable {
    /** Returns the address that reaches it. */
    URI address();

    @Override
    void close();
  }

  /** What an address to listen on asks for. */
  interface Asked {
    /** Returns the port that it names, or 0 for any that is free. */
    int port();

    /** Returns the key that who connects must have, or null. */
    @Nullable LockKey key();

    /**
     * Lets others find a port that is listened on; null if another port is to be tried.
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

  /** Returns what a peer that has come here is called, for people. */
  String name(Gid host, int port);
}
