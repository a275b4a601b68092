// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.emulated.address.ShmAddress;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProvider;
import java.net.URI;
import java.util.List;

/**
 * Emulated HCAs on shared memory, with addresses {@code shm://name}. They connect processes of one
 * user on one host, also in containers that share a folder. The name denotes a service, to listen
 * on or to connect to. {@code shm://name:port} is another service for each port; port 0 means any
 * free port. All IP addresses and {@code localhost} are the same name.
 *
 * <p>All devices that a process opens in one folder share one HCA. When a process ends, for
 * whatever reason, its peers detect that: their connections to it end, and operations that wait for
 * it fail.
 *
 * <p>Options:
 *
 * <ul>
 *   <li>{@code dir=FOLDER}: the absolute path of the folder in which processes find each other;
 *       default {@code verbena-UID} in the host's shared memory. Only the user may have access to
 *       the folder: a writer to it can do to the user's processes all that a library in them could
 *   <li>{@code pcap=FILE}: writes all packets to a capture file. Packets of a peer without this
 *       option lack the payload that this end copies out of the peer's memory
 *   <li>{@code sanitize=true}: as for {@link EmulatedProvider}
 *   <li>limits of the device, as for {@link EmulatedProvider}
 * </ul>
 */
public final class ShmProvider implements VerbsProvider {

  @Override
  public String scheme() {
    return ShmAddress.SCHEME;
  }

  @Override
  public List<String> deviceNames() {
    return List.of(ShmFabrics.DEVICE_NAME);
  }

  @Override
  public Device open(URI address) {
    ShmAddress parsed = ShmAddress.parse(address);
    return SanitizeOption.open(
        parsed.option(ShmAddress.Option.SANITIZE), () -> ShmFabrics.open(parsed));
  }
}
