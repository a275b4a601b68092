// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.emulated.address.ShmAddress;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProvider;
import java.net.URI;
import java.util.List;

/**
 * Emulated HCAs on shared memory, as {@code shm://name}: between processes of one user on one host,
 * and between containers that share a folder. The name is that of a service, to listen on or to
 * connect to; {@code shm://name:port} is another service for each port, any free one if it is 0.
 * Every IP address and {@code localhost} are one name.
 *
 * <p>All devices that a process opens in one folder share an HCA. When a process ends, for whatever
 * reason, its peers notice: their connections end, and operations that wait for it fail.
 *
 * <p>Options:
 *
 * <ul>
 *   <li>{@code dir=FOLDER}: the folder where processes find each other, an absolute path; without
 *       it, {@code verbena-UID} in the host's shared memory. Only the user may have access to the
 *       folder: whoever may write there can do to a process of this user what a library in it could
 *   <li>{@code pcap=FILE}: writes all packets to a file; those of peers without this option lack
 *       the payload that this end copies out of their memory
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
