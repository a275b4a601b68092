package io.verbena.emulated;

import io.verbena.verbs.Device;
import io.verbena.verbs.DeviceAttributes;
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
 *
 * <p>The limits of the device can be set down, for programs that are to meet them: {@code
 * max-queue-pairs=4}, {@code max-completions}, {@code max-memory-regions}, {@code max-message-size}
 * and so on, one for each limit of {@link DeviceAttributes}. Devices that differ in them only reach
 * each other.
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
    DeviceAttributes limits = DeviceLimits.of(address.options());
    return wire == null
        ? EmulatedDevice.open(Fabric.DIRECT, limits)
        : ClockedFabric.open(wire, limits);
  }
}
