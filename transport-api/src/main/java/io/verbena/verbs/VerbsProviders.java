// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.net.URI;
import java.util.Collections;
import java.util.Locale;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The verbs providers that are present, by scheme. Immutable and thread-safe. */
public final class VerbsProviders {
  private final TreeMap<String, VerbsProvider> present = new TreeMap<>();

  private VerbsProviders() {
    ClassLoader context = Thread.currentThread().getContextClassLoader();
    ClassLoader own = VerbsProviders.class.getClassLoader();
    add(context);
    if (own != context) {
      add(own);
    }
  }

  /**
   * Adds the providers of a class loader; those of schemes that are present already are left out.
   */
  private void add(@Nullable ClassLoader loader) {
    for (VerbsProvider provider : ServiceLoader.load(VerbsProvider.class, loader)) {
      present.putIfAbsent(provider.scheme(), provider);
    }
  }

  /**
   * Loads the providers of the thread's context class loader, and those of other schemes from the
   * class loader of this class.
   */
  public static VerbsProviders load() {
    return new VerbsProviders();
  }

  /**
   * Returns the provider for the scheme of {@code address}, among those that {@link #load} finds
   * now.
   *
   * @throws VerbsException {@code NO_DEVICE} with the schemes that are present
   */
  public static VerbsProvider find(URI address) {
    return load().of(address);
  }

  /** Returns the schemes of the providers that are present. */
  public Set<String> schemes() {
    return Collections.unmodifiableSet(present.keySet());
  }

  /**
   * Returns the provider for the scheme of {@code address}.
   *
   * @throws VerbsException {@code NO_DEVICE} with the schemes that are present
   */
  public VerbsProvider of(URI address) {
    String scheme = address.getScheme() == null ? "" : address.getScheme().toLowerCase(Locale.ROOT);
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
