// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.emulated.address.IwarpAddress;
import io.verbena.emulated.iwarp.IwarpFabric;
import io.verbena.emulated.lock.LockKey;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProvider;
import io.verbena.verbs.provider.HostNames;
import java.net.URI;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Emulated HCAs that speak iWARP over sockets of TCP, as {@code iwarp://host:port}: to HCAs of the
 * same kind in other processes and on other hosts, and to others that speak iWARP (RFC 5040, 5041,
 * 5044, 6581, 7306), such as the kernel's siw. The host is an address of this machine, to listen
 * on, or one to reach; the port is one of TCP, any free one if it is 0 or missing. It works
 * wherever TCP does: across networks, address translation, containers.
 *
 * <p>All devices of a process share an HCA. They differ from those of {@link RoceProvider} as iWARP
 * differs from InfiniBand:
 *
 * <ul>
 *   <li>Queue pairs are of type RC only, and connected by the connection manager only; a send queue
 *       cannot be drained.
 *   <li>Atomics, and immediate data with a WRITE, need a peer that supports them, as HCAs of the
 *       same kind do and the kernel's siw does not: {@link io.verbena.verbs.QueuePair#supports}. A
 *       SEND carries no immediate data.
 *   <li>A SEND or WRITE completes when TCP has taken it. A request that the peer refuses ends the
 *       connection: the requests behind it are flushed, and no status says which one was refused.
 *   <li>A SEND for which no receive is posted ends the connection, too: there is no RNR.
 * </ul>
 *
 * <p>Options:
 *
 * <ul>
 *   <li>{@code crc=true}: segments carry CRCs, if either end asks for them; TCP's checksum alone
 *       without it
 *   <li>{@code extensions=false}: no atomics and immediate data, and MPA's frames do not ask for
 *       them
 *   <li>{@code source=ADDRESS}: the address of this machine to connect from
 *   <li>{@code pcap=FILE}: writes all bytes that the HCA sends and receives to a capture file, as
 *       TCP segments; the devices of a process share one file
 *   <li>{@code key-file=FILE}: connections that this address names, to listen on or to connect to,
 *       are locked: each end proves to the other that it has the bytes of the file, and what
 *       follows the frames of MPA is sealed. Between HCAs of the same kind
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
    // Each listen and connect reads the key; that it is missing is better known now.
    LockKey unused = parsed.key();
    return SanitizeOption.open(
        parsed.option(IwarpAddress.Option.SANITIZE), () -> IwarpFabrics.open(parsed));
  }
}
