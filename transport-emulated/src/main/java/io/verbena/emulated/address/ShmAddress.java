// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.address;

import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An address of an HCA on shared memory: {@code shm://name} or {@code shm://name:port}.
 *
 * @param name the name of a service of this host, to listen on or to connect to
 * @param port the port after the name; {@link #NO_PORT} if there is none
 * @param options the address's options
 * @param limits the limits that the address sets for the opened device
 */
public record ShmAddress(
    String name, int port, Map<Option, String> options, Map<LimitOption, String> limits) {
  /** The scheme of these addresses. */
  public static final String SCHEME = "shm";

  /** The port of an address that names none. */
  public static final int NO_PORT = -1;

  private static final int LONGEST_NAME = 100;

  /** The name that replaces every IP address: all of them mean this machine. */
  private static final String THIS_HOST = "localhost";

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*");
  private static final Pattern IP = Pattern.compile("[0-9.]+|\\[.*]");

  /** The options of these addresses. An address writes them in lower case with dashes. */
  public enum Option {
    /** The folder in which processes find each other; default one of this user in shared memory. */
    DIR,
    /** A capture file to write all packets to. */
    PCAP,
    /** As in {@code emulated://}. */
    SANITIZE
  }

  /**
   * Reads an address. Every IP address means this machine, as {@code localhost} does.
   *
   * @throws VerbsException {@code INVALID} for another scheme, a missing or malformed name, a port
   *     out of range, or an option that is unknown or given twice
   */
  public static ShmAddress parse(URI address) {
    String host = address.getHost();
    if (!SCHEME.equalsIgnoreCase(address.getScheme()) || host == null) {
      throw AddressOptions.invalid("address: " + address + " (expected: shm://name)");
    }
    String name = IP.matcher(host).matches() ? THIS_HOST : host;
    if (!NAME.matcher(name).matches() || name.length() > LONGEST_NAME) {
      throw AddressOptions.invalid(
          "address: "
              + address
              + ": name: "
              + name
              + " (expected: at most "
              + LONGEST_NAME
              + " letters, digits, dots, dashes and underscores)");
    }
    int port = AddressOptions.port(address);
    AddressOptions<Option> read =
        AddressOptions.parse(address, Option.class, AddressOptions::decodeForm);
    return new ShmAddress(name, port, read.options(), read.limits());
  }

  /** Returns the value of an option, or null. */
  public @Nullable String option(Option option) {
    return options.get(option);
  }

  /** Returns an address of the same name and folder with another port. */
  public URI at(int other) {
    StringBuilder text = new StringBuilder(SCHEME + "://" + name);
    if (other != NO_PORT) {
      text.append(':').append(other);
    }
    String dir = options.get(Option.DIR);
    if (dir != null) {
      text.append("?dir=").append(AddressOptions.encodePath(dir));
    }
    return URI.create(text.toString());
  }
}
