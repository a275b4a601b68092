// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.net.URI;
import java.util.List;

/** A kind of HCA, found by {@link java.util.ServiceLoader}. Stateless and thread-safe. */
public interface VerbsProvider {

  /** The scheme of the URIs that it takes, in lower case. */
  String scheme();

  /** The names of the devices that are present. */
  List<String> deviceNames();

  /**
   * Opens a device that can listen on, or reach, an address. Options stand in the URI's query.
   *
   * @throws VerbsException {@code NO_DEVICE} if there is none, {@code NOT_PERMITTED}, {@code
   *     INVALID} for an option that it does not know
   */
  Device open(URI address);
}
