// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.emulated.address.ShmAddress;
import io.verbena.emulated.cm.roce.HostNaming;
import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.verbs.Gid;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Maps addresses {@code shm://name} to hosts, by the services that a folder lists. A name without a
 * port is one service, and each port of a name is another. A connection request names a port of the
 * host, which chooses one for a name without a port.
 */
public final class ShmNaming implements HostNaming {
  /** A port that never has a listener. */
  private static final int NOWHERE = 0;

  private final SharedFolder folder;
  private final Gid host;

  /** Creates the naming of a host. */
  public ShmNaming(SharedFolder folder, Gid host) {
    this.folder = folder;
    this.host = host;
  }

  @Override
  public Asked listen(PortSpace space, URI address) {
    ShmAddress parsed = ShmAddress.parse(address);
    return new Asked() {
      @Override
      public int port() {
        return Math.max(0, parsed.port());
      }

      @Override
      public @Nullable SharedSecret key() {
        return null;
      }

      @Override
      public @Nullable Claim claim(int port) {
        int named = parsed.port() == ShmAddress.NO_PORT ? ShmAddress.NO_PORT : port;
        String service = service(space, parsed.name(), named);
        Offer offer = new Offer(folder, service, parsed.at(named));
        if (folder.offer(service, new SharedFolder.Service(host, port))) {
          return offer;
        }
        if (named == ShmAddress.NO_PORT) {
          throw new VerbsException(
              VerbsError.ADDRESS_IN_USE, "listen: " + address + " is listened on already");
        }
        return null;
      }
    };
  }

  private record Offer(SharedFolder folder, String service, URI address) implements Claim {
    @Override
    public void close() {
      folder.withdraw(service);
    }
  }

  private static String service(PortSpace space, String name, int port) {
    String suffix = space == PortSpace.TCP ? "" : "." + space.name().toLowerCase(Locale.ROOT);
    return (port == ShmAddress.NO_PORT ? name : name + ":" + port) + suffix;
  }

  /**
   * {@inheritDoc} If the service has no listener, the destination is a port of this host without a
   * listener.
   */
  @Override
  public Destination resolve(PortSpace space, URI address) {
    ShmAddress parsed = ShmAddress.parse(address);
    if (parsed.port() == 0) {
      throw new VerbsException(
          VerbsError.INVALID, "resolve: " + address + ": port: 0 (expected: 1..65535, or none)");
    }
    SharedFolder.Service found = folder.find(service(space, parsed.name(), parsed.port()));
    String name = parsed.at(parsed.port()).toString();
    return found == null
        ? new Destination(host, NOWHERE, null, null, name)
        : new Destination(
            found.host(),
            found.port(),
            null,
            null,
            name + " (pid " + SharedFolder.process(found.host()) + ')');
  }

  @Override
  public String name(Gid peer, int port) {
    return ShmAddress.SCHEME + "://pid-" + SharedFolder.process(peer) + ':' + port;
  }
}
