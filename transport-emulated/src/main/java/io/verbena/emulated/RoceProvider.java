// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.emulated.address.LocalAddresses;
import io.verbena.emulated.address.RoceAddress;
import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProvider;
import io.verbena.verbs.provider.HostNames;
import java.net.URI;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Emulated HCAs that speak RoCEv2 over UDP sockets, with addresses {@code roce://host:port}. Their
 * peers are HCAs of the same kind in other processes and on other hosts, and other implementations
 * of RoCEv2. To listen, the host is an address of this machine; to connect, it is that of the peer.
 * The port is that of the connection manager ({@code RDMA_PS_TCP}, or {@code RDMA_PS_UDP} for
 * datagrams); 0 or none means any free port.
 *
 * <p>Devices that are opened on one address of this machine share one HCA, as contexts share an
 * RNIC. The HCA receives packets on UDP port 4791. If another process uses that port, the HCA uses
 * any free port and puts it into its GID; it can then exchange packets only with HCAs of the same
 * kind. IPv6 GIDs have no room for a port: over IPv6 opening fails if port 4791 is in use.
 * Link-local IPv6 addresses cannot be used. A host name with IPv4 and IPv6 addresses stands for the
 * first IPv4 address.
 *
 * <p>Options:
 *
 * <ul>
 *   <li>{@code udp-port=N}: the UDP port of the host's HCA if it is not 4791; only HCAs of the same
 *       kind support that. 0 means any free port, to listen. The header of a datagram does not hold
 *       the sender's port: answers go to 4791
 *   <li>{@code device=NAME}: the network interface to use
 *   <li>{@code source=ADDRESS}: the local address to use
 *   <li>{@code mtu=N}: 256, 512, 1024, 2048 or 4096 bytes of payload per packet; default the most
 *       that the interface carries
 *   <li>{@code pcap=FILE}: writes all packets to a capture file
 *   <li>{@code max-half-open=N}, {@code max-half-open-per-peer=N}: limits on connections that were
 *       requested but are not established, of all peers and of one IP address; default 1024 and
 *       256. A request beyond a limit is not answered, and the peer repeats it
 *   <li>{@code max-connections-per-peer=N}: a limit on connections that one IP address has
 *       requested, established or not; default none. A request beyond it is rejected
 *   <li>{@code key-file=FILE}: locks the connections that are made to or accepted on this address:
 *       each end proves to the other that it has the bytes of the file, and every packet is sealed.
 *       Only between HCAs of the same kind; not for datagrams
 *   <li>{@code sanitize=true}: as for {@link EmulatedProvider}
 *   <li>limits of the device, as for {@link EmulatedProvider}
 * </ul>
 *
 * <p>Before JDK 19 a UDP socket cannot set the IPv4 fields that the invariant CRC covers: only HCAs
 * of the same kind accept its packets, and the provider logs this once. Soft-RoCE sends IPv6
 * packets without a UDP checksum, and Linux does not deliver them to Java's sockets: IPv6 works
 * only between HCAs of the same kind.
 */
public final class RoceProvider implements VerbsProvider {

  @Override
  public String scheme() {
    return RoceAddress.SCHEME;
  }

  @Override
  public List<String> deviceNames() {
    return LocalAddresses.deviceNames();
  }

  @Override
  public @Nullable Supplier<URI> lookup(URI address) {
    return HostNames.lookup(address, host -> RoceAddress.lookup(address, host));
  }

  @Override
  public Device open(URI address) {
    RoceAddress parsed = RoceAddress.parse(address);
    // Each listen and connect reads the key again; this read reports a missing file early.
    SharedSecret unused = parsed.key();
    return SanitizeOption.open(
        parsed.option(RoceAddress.Option.SANITIZE), () -> UdpFabrics.open(parsed));
  }
}
