// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import io.netty.util.NetUtil;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Converts host and port to the URI of an HCA's peer, as {@link VerbenaConfigKeys#uri} says.
 * Immutable.
 */
final class PeerUri {
  private final URI hca;
  private final String host;
  private final boolean hasAddress;

  private PeerUri(URI hca, String host, boolean hasAddress) {
    this.hca = hca;
    this.host = host;
    this.hasAddress = hasAddress;
  }

  /**
   * Returns the converter of an HCA; blocks while a host name is looked up.
   *
   * @throws IllegalArgumentException if the URI has no scheme or host
   */
  static PeerUri of(URI hca) {
    String host = hca.getHost();
    if (hca.getScheme() == null || host == null) {
      throw new IllegalArgumentException(
          VerbenaConfigKeys.URI_KEY + ": " + hca + " (expected: a scheme and a host)");
    }
    Supplier<URI> lookup = VerbsProviders.find(hca).lookup(hca);
    String found = lookup == null ? host : lookup.get().getHost();
    return new PeerUri(hca, host, found != null && isAddress(found));
  }

  private static boolean isAddress(String host) {
    return NetUtil.isValidIpV4Address(host) || NetUtil.isValidIpV6Address(host);
  }

  /** Returns the address to listen on; {@code at} is null for the host of the HCA's URI. */
  URI own(@Nullable String at, int port) {
    return uri(at == null ? host : at, port);
  }

  /**
   * Returns the address of a peer.
   *
   * @param address host and port, as Ratis writes it
   * @throws IllegalArgumentException if it has no port
   */
  URI of(String address) {
    int colon = address.lastIndexOf(':');
    try {
      return uri(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
    } catch (IndexOutOfBoundsException | NumberFormatException e) {
      throw new IllegalArgumentException(
          "address of a peer: " + address + " (expected: host and port)", e);
    }
  }

  private URI uri(String to, int port) {
    String query = hca.getRawQuery();
    String authority = hasAddress && !isOwn(to) ? bracketed(to) : host;
    try {
      return new URI(
          hca.getScheme() + "://" + authority + ":" + port + (query == null ? "" : "?" + query));
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("address of a peer: " + to + ":" + port, e);
    }
  }

  /** Returns whether a host is the wildcard or the loopback, which stand for the HCA's own host. */
  private static boolean isOwn(String to) {
    return switch (to) {
      case "", "localhost", "0.0.0.0", "127.0.0.1", "::", "::1", "[::]", "[::1]" -> true;
      case "0:0:0:0:0:0:0:0", "0:0:0:0:0:0:0:1" -> true;
      default -> false;
    };
  }

  private static String bracketed(String host) {
    return host.indexOf(':') < 0 || host.startsWith("[") ? host : "[" + host + "]";
  }
}
