// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.net.URI;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A kind of HCA, found by {@link java.util.ServiceLoader}. Stateless and thread-safe. */
public interface VerbsProvider {

  /** Returns the scheme of the provider's URIs, in lower case. */
  String scheme();

  /** Returns the names of the devices that are present. */
  List<String> deviceNames();

  /**
   * Returns a supplier that looks up the host name of an address, or null if there is none to look
   * up. The supplier returns the same URI with the host's address in place of the name; {@link
   * #open} and connection managers need no lookup for that URI. The supplier may block for as long
   * as the name service takes, and throws a {@link VerbsException} {@code INVALID} for a name that
   * is not known.
   */
  default @Nullable Supplier<URI> lookup(URI address) {
    return null;
  }

  /**
   * Opens a device that can listen on, or reach, an address. The URI's query holds options.
   *
   * @throws VerbsException {@code NO_DEVICE} if there is none, {@code NOT_PERMITTED}, {@code
   *     INVALID} for an unknown option
   */
  Device open(URI address);
}
