// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.emulated.address.IwarpAddress;
import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.emulated.iwarp.IwarpFabric;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProvider;
import io.verbena.verbs.provider.HostNames;
import java.net.URI;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Emulated HCAs that speak iWARP (RFC 5040, 5041, 5044, 6581, 7306) over TCP sockets, with
 * addresses {@code iwarp://host:port}. Their peers are HCAs of the same kind in other processes and
 * on other hosts, and other implementations of iWARP, such as the kernel's siw. To listen, the host
 * is an address of this machine; to connect, it is that of the peer. The port is a TCP port; 0 or
 * none means any free port. These HCAs work wherever TCP does: across networks, address
 * translation, containers.
 *
 * <p>All devices of a process share one HCA. They differ from those of {@link RoceProvider} as
 * iWARP differs from InfiniBand:
 *
 * <ul>
 *   <li>Queue pairs have type RC, and only the connection manager connects them; a send queue
 *       cannot be drained.
 *   <li>Atomics, and immediate data with a WRITE, need a peer that supports them: HCAs of the same
 *       kind do, the kernel's siw does not, see {@link io.verbena.verbs.QueuePair#supports}. A SEND
 *       carries no immediate data.
 *   <li>A SEND or WRITE completes when TCP has accepted its bytes. If the peer refuses a request,
 *       the connection ends: later requests are flushed, and no status tells which request was
 *       refused.
 *   <li>A SEND that finds no receive posted also ends the connection: iWARP has no RNR.
 * </ul>
 *
 * <p>Options:
 *
 * <ul>
 *   <li>{@code crc=true}: FPDUs carry CRCs; one end with this option suffices. Without it only
 *       TCP's checksum protects the bytes
 *   <li>{@code extensions=false}: disables atomics and immediate data; MPA frames do not request
 *       them
 *   <li>{@code source=ADDRESS}: the local address to connect from
 *   <li>{@code pcap=FILE}: writes all bytes that the HCA sends and receives to a capture file, as
 *       TCP segments; the devices of a process share one file
 *   <li>{@code key-file=FILE}: locks the connections that are made to or accepted on this address:
 *       each end proves to the other that it has the bytes of the file, and all bytes after the MPA
 *       frames are sealed. Only between HCAs of the same kind
 *   <li>{@code sanitize=true}: as for {@link EmulatedProvider}
 *   <li>limits of the device, as for {@link EmulatedProvider}
 * </ul>
 */
public final class IwarpProvider implements VerbsProvider {

  @Override
  public String scheme() {
    return IwarpAddress.SCHEME;
  }

  @Override
  public List<String> deviceNames() {
    return List.of(IwarpFabric.NAME);
  }

  @Override
  public @Nullable Supplier<URI> lookup(URI address) {
    return HostNames.lookup(address, host -> IwarpAddress.lookup(address, host));
  }

  @Override
  public Device open(URI address) {
    IwarpAddress parsed = IwarpAddress.parse(address);
    // Each listen and connect reads the key again; this read reports a missing file early.
    SharedSecret unused = parsed.key();
    return SanitizeOption.open(
        parsed.option(IwarpAddress.Option.SANITIZE), () -> IwarpFabrics.open(parsed));
  }
}
