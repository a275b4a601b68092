package io.verbena.emulated;

import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProvider;
import java.net.URI;
import java.util.List;

/**
 * Emulated HCAs, as {@code emulated://name}: the name is an address within this JVM, to listen on
 * or to connect to. Each {@link #open} is an HCA of its own.
 */
public final class EmulatedProvider implements VerbsProvider {
  private static final String SCHEME = "emulated";

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  public List<String> deviceNames() {
    return List.of(EmulatedDevice.NAME);
  }

  @Override
  public Device open(URI address) {
    name(address);
    if (address.getRawQuery() != null) {
      throw new VerbsException(
          VerbsError.INVALID,
          "open " + address + ": options: " + address.getRawQuery() + " (expected: none)");
    }
    return EmulatedDevice.open();
  }

  /** The name in an address. */
  static String name(URI address) {
    String name = address.getRawAuthority();
    if (!SCHEME.equalsIgnoreCase(address.getScheme()) || name == null || name.isEmpty()) {
      throw new VerbsException(
          VerbsError.INVALID, "address: " + address + " (expected: emulated://name)");
    }
    return name;
  }
}
