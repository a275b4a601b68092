// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.emulated.address.EmulatedAddress;
import io.verbena.emulated.hca.EmulatedDevice;
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
 * <p>By default a request is done by the thread that posts it, before the post returns. With {@code
 * emulated://name?mode=async&seed=7} an engine does it later, as an RNIC would: requests of one
 * queue in order, except those that may pass an outstanding READ or atomic; those of different
 * queues in any order; the bytes of a message in parts and in any order; completions late. So a
 * program fails if it relies on a request being done when it is posted, or on a completion being
 * there before another one. The seed chooses among the allowed orders, which also depend on when
 * the program's threads run.
 *
 * <p>With the option {@code wire=simulated} requests travel in packets over a simulated wire, on
 * which {@code loss}, {@code delay}, {@code reorder}, {@code duplicate} and {@code corruption}
 * inject faults: each is a probability for each packet, drawn from {@code seed}. {@code latency} is
 * the time that a packet takes, in microseconds, and {@code pcap} a file to write all packets to.
 *
 * <p>With {@code sanitize=true} the program's mistakes are reported, see {@link
 * io.verbena.emulated.sanitizer}.
 *
 * <p>With {@code fuse=a} a test can break the device: see {@link DeviceFault}.
 *
 * <p>The limits of the device can be lowered, to test how a program behaves at them: {@code
 * max-queue-pairs=4}, {@code max-completions}, {@code max-memory-regions}, {@code max-message-size}
 * and so on, one for each limit of {@link DeviceAttributes}. Devices that differ only in them reach
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
    return SanitizeOption.open(
        parsed.options().get(EmulatedAddress.Option.SANITIZE),
        () -> {
          EmulatedDevice device = OpenFabrics.open(parsed);
          String fuse = parsed.options().get(EmulatedAddress.Option.FUSE);
          if (fuse != null) {
            DeviceFault.insert(fuse, device);
          }
          return device;
        });
  }
}
