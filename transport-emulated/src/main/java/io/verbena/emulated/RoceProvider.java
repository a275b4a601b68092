// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.emulated.address.LocalAddresses;
import io.verbena.emulated.address.RoceAddress;
import io.verbena.emulated.lock.LockKey;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProvider;
import io.verbena.verbs.provider.HostNames;
import java.net.URI;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Emulated HCAs on UDP sockets, as {@code roce://host:port}: they talk RoCEv2 to HCAs of the same
 * kind in other processes and on other hosts, and to others that speak RoCEv2. The host is an
 * address of this machine, to listen on, or one to reach; the port is that of the connection
 * manager ({@code RDMA_PS_TCP}, or {@code RDMA_PS_UDP} for datagrams), any free one if it is 0 or
 * missing.
 *
 * <p>Devices that are opened on one address of this machine share its HCA, as contexts of one RNIC
 * do. The HCA takes packets on UDP port 4791. If another process has that port already, the HCA
 * takes any other one and puts it into its GID; then it can exchange packets only with HCAs of the
 * same kind. Over IPv6, whose GIDs have no room for a port, it takes port 4791 or fails; link-local
 * addresses cannot be used. A host that has both kinds of addresses is reached by IPv4.
 *
 * <p>Options:
 *
 * <ul>
 *   <li>{@code udp-port=N}: the host's HCA takes packets on another UDP port than 4791, as only
 *       HCAs of the same kind can; 0 to listen on any. A datagram does not tell this port of its
 *       sender: the way back that its header gives leads to 4791
 *   <li>{@code device=NAME}: the network interface to use
 *   <li>{@code source=ADDRESS}: the address of this machine to use
 *   <li>{@code mtu=N}: 256, 512, 1024, 2048 or 4096 bytes of payload per packet; without it, the
 *       most that the interface carries
 *   <li>{@code pcap=FILE}: writes all packets to a file
 *   <li>{@code max-half-open=N}, {@code max-half-open-per-peer=N}: limits on connections that were
 *       requested but not finished, of all peers and of one IP address; 1024 and 256 without it. A
 *       request beyond them is not answered, and the peer repeats it
 *   <li>{@code key-file=FILE}: connections that this address names, to listen on or to connect to,
 *       are locked: each end proves to the other that it has the bytes of the file, and every
 *       packet is sealed. Between HCAs of the same kind; not for datagrams
 *   <li>{@code sanitize=true}: as for {@link EmulatedProvider}
 * </ul>
 *
 * <p>Before JDK 19 a UDP socket cannot choose the IPv4 fields that the invariant CRC covers: then
 * only HCAs of the same kind accept its packets, and the provider logs this once. Packets of
 * Soft-RoCE over IPv6 have no UDP checksum, and Linux drops them for Java's sockets: IPv6 works
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
    // Each listen and connect reads the key; that it is missing is better known now.
    LockKey unused = parsed.key();
    return SanitizeOption.open(
        parsed.option(RoceAddress.Option.SANITIZE), () -> UdpFabrics.open(parsed));
  }
}
