// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.medium;

import io.verbena.core.medium.Medium.Reach;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProvider;
import io.verbena.verbs.VerbsProviders;
import io.verbena.verbs.provider.HostNames;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds the media that lead to an address {@code rdma://host:port}, the fastest first: this
 * process, shared memory of this host, an RNIC, iWARP over TCP. An option such as {@code
 * medium=shm} or {@code medium=shm,roce} restricts them. Thread-safe.
 */
public final class Media {
  /** The scheme of addresses whose medium both ends choose. */
  public static final String SCHEME = "rdma";

  private static final String OPTION = "medium=";
  private static final int MAX_PORT = 65_535;

  private final VerbsProviders providers;

  /** The media of the providers that are present. */
  public Media(VerbsProviders providers) {
    this.providers = providers;
  }

  /** Returns whether an address has the scheme {@link #SCHEME}. */
  public static boolean isAny(URI address) {
    return SCHEME.equalsIgnoreCase(address.getScheme());
  }

  /**
   * Returns a supplier of the address with its host name replaced by an IP address, as {@link
   * VerbsProvider#lookup} does; null if there is no name.
   */
  public static @Nullable Supplier<URI> lookup(URI address) {
    return HostNames.lookup(address, host -> text(resolve(address, host)));
  }

  /**
   * Returns an address for each medium that may lead to {@code address}, the fastest first. Looks
   * for RNICs of this host, and so loads their libraries.
   *
   * @param address an address with an IP address and a port, which may be 0 for a server
   * @throws VerbsException {@code INVALID} for an address of another form, or an unknown option;
   *     {@code NO_DEVICE} if no medium leads there
   */
  public List<URI> candidates(URI address) {
    String host = address.getHost();
    int port = address.getPort();
    if (!isAny(address) || host == null || port < 0 || port > MAX_PORT) {
      throw invalid(address, "expected: rdma://host:port, with a port of at most " + MAX_PORT);
    }
    boolean isHere = isHere(resolve(address, host));
    Set<Medium> asked = asked(address);
    List<URI> found = new ArrayList<>();
    boolean hasDevice = false;
    for (Medium medium : asked) {
      boolean leadsThere = isHere || medium.reach() == Reach.NETWORK;
      // Both providers of RNICs find the same ones.
      if (leadsThere && !(medium.needsDevice() && hasDevice) && isPresent(medium)) {
        hasDevice |= medium.needsDevice();
        found.add(at(medium, host, port));
      }
    }
    if (found.isEmpty()) {
      throw new VerbsException(
          VerbsError.NO_DEVICE,
          "address: "
              + address
              + ": no medium leads there (tried: "
              + schemes(asked)
              + "; expected: their providers on the class path, an RNIC for disni and verbs, and an"
              + " address of this host for emulated and shm)");
    }
    return found;
  }

  /** Returns an {@code rdma://} address, or one of its {@link #candidates}, with another port. */
  public static URI withPort(URI address, int port) {
    for (Medium medium : Medium.values()) {
      if (medium.scheme().equals(address.getScheme())) {
        return at(medium, address.getHost(), port);
      }
    }
    String query = address.getRawQuery() == null ? "" : "?" + address.getRawQuery();
    return URI.create(SCHEME + "://" + address.getHost() + ":" + port + query);
  }

  /**
   * Returns the address of a server on a medium. Within a process or a host, a port belongs to one
   * server, whatever the server's IP address.
   */
  private static URI at(Medium medium, String host, int port) {
    String where = medium.reach() == Reach.NETWORK ? host : SCHEME;
    return URI.create(medium.scheme() + "://" + where + ":" + port);
  }

  private boolean isPresent(Medium medium) {
    if (!providers.schemes().contains(medium.scheme())) {
      return false;
    }
    if (!medium.needsDevice()) {
      return true;
    }
    try {
      return !providers.of(URI.create(medium.scheme() + "://any")).deviceNames().isEmpty();
    } catch (VerbsException noLibraries) {
      return false;
    }
  }

  private static Set<Medium> asked(URI address) {
    String query = address.getRawQuery();
    if (query == null) {
      return EnumSet.complementOf(EnumSet.of(Medium.ROCE));
    }
    if (!query.startsWith(OPTION)) {
      throw invalid(address, "option: " + query + " (expected: " + OPTION + "...)");
    }
    Set<Medium> asked = EnumSet.noneOf(Medium.class);
    for (String name : query.substring(OPTION.length()).split(",", -1)) {
      asked.add(medium(address, name));
    }
    return asked;
  }

  private static Medium medium(URI address, String name) {
    for (Medium each : Medium.values()) {
      if (each.scheme().equals(name)) {
        return each;
      }
    }
    throw invalid(address, "medium: " + name + " (expected: " + Medium.schemes() + ")");
  }

  private static String schemes(Set<Medium> media) {
    return String.join(", ", media.stream().map(Medium::scheme).toList());
  }

  private static InetAddress resolve(URI address, String host) {
    try {
      return InetAddress.getByName(host);
    } catch (UnknownHostException e) {
      throw new VerbsException(
          VerbsError.INVALID, "address: " + address + ": unknown host " + host, e);
    }
  }

  private static String text(InetAddress address) {
    String text = address.getHostAddress();
    return address instanceof Inet6Address ? "[" + text.replaceFirst("%.*", "") + "]" : text;
  }

  private static boolean isHere(InetAddress address) {
    try {
      return address.isAnyLocalAddress()
          || address.isLoopbackAddress()
          || NetworkInterface.getByInetAddress(address) != null;
    } catch (SocketException e) {
      throw new VerbsException(VerbsError.IO, "the addresses of this host: " + e, e);
    }
  }

  private static VerbsException invalid(URI address, String problem) {
    return new VerbsException(VerbsError.INVALID, "address: " + address + ": " + problem);
  }
}
