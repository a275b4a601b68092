// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.provider;

import io.verbena.verbs.VerbsProvider;
import java.net.URI;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Looks up host names in addresses of the form {@code scheme://host:port?options}. */
public final class HostNames {
  private HostNames() {}

  /**
   * Returns a supplier of the address with its host name replaced, for {@link
   * VerbsProvider#lookup}.
   *
   * @param resolve looks a host name up; returns an IPv4 address, or an IPv6 address in brackets
   * @return the supplier, or null if the host is an IP address, or missing
   */
  public static @Nullable Supplier<URI> lookup(URI address, UnaryOperator<String> resolve) {
    String host = address.getHost();
    return host == null || isAddress(host) ? null : () -> withHost(address, resolve.apply(host));
  }

  /** Relies on the last label of a host name beginning with a letter (RFC 2396, section 3.2.2). */
  private static boolean isAddress(String host) {
    return host.startsWith("[") || host.chars().noneMatch(Character::isLetter);
  }

  private static URI withHost(URI address, String host) {
    return URI.create(
        address.getScheme()
            + "://"
            + host
            + (address.getPort() < 0 ? "" : ":" + address.getPort())
            + Objects.toString(address.getRawPath(), "")
            + (address.getRawQuery() == null ? "" : "?" + address.getRawQuery()));
  }
}
