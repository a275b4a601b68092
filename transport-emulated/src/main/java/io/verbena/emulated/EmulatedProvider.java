package io.verbena.emulated;

import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProvider;
import java.net.URI;
import java.util.List;

/**
 * Emulated HCAs, as {@code emulated://name}: the name is an address within this JVM, to listen on
 * or to connect to. Each {@link #open} is an HCA of its own; HCAs that were opened with the same
 * options reach each other.
 */
public final class EmulatedProvider implements VerbsProvider {

  @Override
  public String scheme() {
    return EmulatedAddress.SCHEME;
  }

  @Override
  public List<String> deviceNames() {
    return List.of(EmulatedDevice.NAME);
  }

  @Override
  public Device open(URI address) {
    EmulatedAddress.parse(address);
    return EmulatedDevice.open();
  }
}
