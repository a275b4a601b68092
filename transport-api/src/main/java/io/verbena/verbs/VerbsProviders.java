// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.net.URI;
import java.util.Locale;
import java.util.ServiceLoader;
import java.util.TreeMap;

/** Finds the verbs provider of a URI. */
public final class VerbsProviders {
  private VerbsProviders() {}

  /**
   * The provider for the scheme of {@code address}.
   *
   * @throws VerbsException {@code NO_DEVICE} with the schemes that are present
   */
  public static VerbsProvider find(URI address) {
    String scheme = address.getScheme() == null ? "" : address.getScheme().toLowerCase(Locale.ROOT);
    TreeMap<String, VerbsProvider> present = new TreeMap<>();
    for (VerbsProvider provider : ServiceLoader.load(VerbsProvider.class)) {
      present.put(provider.scheme(), provider);
    }
    VerbsProvider found = present.get(scheme);
    if (found == null) {
      throw new VerbsException(
          VerbsError.NO_DEVICE,
          "no verbs provider for scheme '"
              + scheme
              + "' of "
              + address
              + " (present: "
              + (present.isEmpty() ? "none; add one to the class path" : present.keySet())
              + ")");
    }
    return found;
  }
}
