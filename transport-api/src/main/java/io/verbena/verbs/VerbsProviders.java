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
    ClassLoader ofTheThread = Thread.currentThread().getContextClassLoader();
    ClassLoader own = VerbsProviders.class.getClassLoader();
    add(ofTheThread);
    if (own != ofTheThread) {
      add(own);
    }
  }

  /** Adds the providers of a class loader, behind those that are there. */
  private void add(@Nullable ClassLoader loader) {
    for (VerbsProvider provider : ServiceLoader.load(VerbsProvider.class, loader)) {
      present.putIfAbsent(provider.scheme(), provider);
    }
  }

  /**
   * Loads the providers that the thread's context class loader finds, and those of other schemes
   * that the class loader of this class finds.
   */
  public static VerbsProviders load() {
    return new VerbsProviders();
  }

  /**
   * The provider for the scheme of {@code address}, among those that {@link #load} finds now.
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
   * The provider for the scheme of {@code address}.
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
