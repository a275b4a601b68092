package io.verbena.emulated;

import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProvider;
import java.net.URI;
import java.util.List;

/**
 * Emulated HCAs, as {@code emulated://name}: the name is an address within this JVM, to listen on
 * or to connect to. Each {@link #open} is an HCA of its own; HCAs that were opened with the same
 * options reach each other.
 *
 * <p>With the option {@code wire=simulated} requests travel in packets over a simulated wire, which
 * {@code loss}, {@code delay}, {@code reorder}, {@code duplicate} and {@code corruption} spoil,
 * each a probability for each packet, by chance made of {@code seed}; {@code latency} is what a
 * packet takes, in microseconds, and {@code pcap} a file to write all packets to.
 *
 * <p>With {@code sanitize=true} the program's mistakes are told, see {@link
 * io.verbena.emulated.sanitizer}.
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
    EmulatedAddress parsed = EmulatedAddress.parse(address);
    return parsed.sanitized(() -> open(parsed));
  }

  private static Device open(EmulatedAddress address) {
    WireOptions wire = WireOptions.of(address.options());
    return wire == null ? EmulatedDevice.open() : ClockedFabric.open(wire);
  }
}
