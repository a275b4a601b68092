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
 * The media that lead to an address {@code rdma://host:port}, the fastest first: this process,
 * shared memory of this host, an RNIC, iWARP over TCP. An option {@code medium=shm} or {@code
 * medium=shm,roce} chooses among them. Thread-safe.
 */
public final class Media {
  /** The scheme of addresses that leave the medium to both ends. */
  public static final String SCHEME = "rdma";

  private static final String OPTION = "medium=";
  private static final int MAX_PORT = 65_535;

  private final VerbsProviders providers;

  /** Those of the providers that are present. */
  public Media(VerbsProviders providers) {
    this.providers = providers;
  }

  /** Returns whether an address leaves the medium to both ends. */
  public static boolean isAny(URI address) {
    return SCHEME.equalsIgnoreCase(address.getScheme());
  }

  /**
   * Returns what replaces the host name of an address by its IP address, as {@link
   * VerbsProvider#lookup} does; null if there is no name.
   */
  public static @Nullable Supplier<URI> lookup(URI address) {
    return HostNames.lookup(address, host -> text(resolve(address, host)));
  }

  /**
   * Returns an address for each medium that may lead to {@code address}, the fastest first. Asks
   * for the RNICs of this host, and so loads their libraries.
   *
   * @param address with an IP address and a port; 0 is any port, to listen on
   * @throws VerbsException {@code INVALID} for an address of another form, or an option that is not
   *     known; {@code NO_DEVICE} if no medium leads there
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
      // Both providers of RNICs see the same ones.
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
              + "; expected: their providers on the class path, an RNIC where one is asked for, and"
              + " a host of which this process is part for emulated and shm)");
    }
    return found;
  }

  /** Returns an address of {@link #candidates}, or one of theirs, with another port. */
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
   * Returns the address of a server on a medium. In a process, and so on a host, one server has a
   * port, whatever its address.
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
