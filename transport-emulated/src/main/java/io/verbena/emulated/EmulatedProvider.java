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
 * Emulated HCAs with addresses {@code emulated://name}. The name is an address within this JVM, to
 * listen on or to connect to. Each {@link #open} creates another HCA; HCAs that were opened with
 * the same options reach each other.
 *
 * <p>By default the posting thread executes a request before the post returns. With {@code
 * emulated://name?mode=async&seed=7} an engine executes it later, as an RNIC would: requests of one
 * queue in order, except those that may pass an outstanding READ or atomic; requests of different
 * queues in any order; the bytes of a message in parts and in any order; completions late. A
 * program therefore fails if it relies on a request being finished when it is posted, or on one
 * completion arriving before another. The order depends on the seed, and on when the program's
 * threads run.
 *
 * <p>With {@code wire=simulated} requests travel in packets over a simulated wire. {@code loss},
 * {@code delay}, {@code reorder}, {@code duplicate} and {@code corruption} inject faults: each is
 * the probability, 0 to 1, that a packet suffers the fault, drawn from {@code seed}. {@code
 * latency} is the time that a packet takes, in microseconds, and {@code pcap} a file to write all
 * packets to.
 *
 * <p>With {@code sanitize=true} the device reports the program's mistakes, and with {@code
 * sanitize=throw} it also throws them: see {@link io.verbena.emulated.sanitizer}.
 *
 * <p>With {@code fuse=a} a test can break the device: see {@link DeviceFault}.
 *
 * <p>Options lower the limits of the device, to test how a program behaves at them: {@code
 * max-queue-pairs=4}, {@code max-completions}, {@code max-memory-regions}, {@code max-message-size}
 * and so on, one for each limit of {@link DeviceAttributes}. Devices that differ only in their
 * limits reach each other.
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
          EmulatedDevice device = OpenedFabrics.open(parsed);
          String fuse = parsed.options().get(EmulatedAddress.Option.FUSE);
          if (fuse != null) {
            DeviceFault.insert(fuse, device);
          }
          return device;
        });
  }
}
