// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.address;

import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An address of an HCA on UDP sockets: {@code roce://host:port?option=value}.
 *
 * @param host an address of this machine, or one to reach
 * @param port the connection manager's port; 0 if the address names none
 * @param options the address's options
 * @param limits the limits that the address sets for the opened device
 */
public record RoceAddress(
    InetAddress host, int port, Map<Option, String> options, Map<LimitOption, String> limits) {
  /** The scheme of these addresses. */
  public static final String SCHEME = "roce";

  private static final int MOST_HALF_OPEN = 65_536;

  /**
   * The options of these addresses, as described at {@code RoceProvider}. An address writes them in
   * lower case with dashes.
   */
  public enum Option {
    UDP_PORT,
    DEVICE,
    SOURCE,
    MTU,
    PCAP,
    SANITIZE,
    /** The maximum number of connections that peers have requested and that are not established. */
    MAX_HALF_OPEN,
    /** The same limit for one IP address. */
    MAX_HALF_OPEN_PER_PEER,
    /** A file whose bytes both ends of a connection must have. */
    KEY_FILE,
    /** The maximum number of connections that one IP address has requested, established or not. */
    MAX_CONNECTIONS_PER_PEER;

    /** Returns the option's name as written in an address. */
    public String text() {
      return AddressOptions.text(this);
    }
  }

  /**
   * Reads an address.
   *
   * @throws VerbsException {@code INVALID} for another scheme, a host without an address, an option
   *     that is unknown or given twice, or a value out of range; {@code NOT_SUPPORTED} for a
   *     link-local IPv6 address, or another UDP port over IPv6
   */
  public static RoceAddress parse(URI address) {
    String host = address.getHost();
    if (!SCHEME.equalsIgnoreCase(address.getScheme()) || host == null) {
      throw AddressOptions.invalid("address: " + address + " (expected: roce://host:port)");
    }
    int port = Math.max(0, AddressOptions.port(address));
    AddressOptions<Option> read =
        AddressOptions.parse(address, Option.class, AddressOptions::decodeForm);
    RoceAddress parsed =
        new RoceAddress(resolve(address, host), port, read.options(), read.limits());
    if (parsed.udpPort() != RocePacket.UDP_PORT && parsed.host instanceof Inet6Address) {
      throw notSupported(
          "udp-port: " + parsed.udpPort() + " (expected: " + RocePacket.UDP_PORT + " over IPv6)");
    }
    parsed.mtu();
    parsed.limit(Option.MAX_HALF_OPEN, 1);
    parsed.limit(Option.MAX_HALF_OPEN_PER_PEER, 1);
    parsed.limit(Option.MAX_CONNECTIONS_PER_PEER, 1);
    return parsed;
  }

  /**
   * Resolves the host of an address; returns the IP address as written in a URI.
   *
   * @throws VerbsException {@code INVALID} for a host without an address
   */
  public static String lookup(URI address, String host) {
    return text(resolve(address, host));
  }

  /** Returns the first IPv4 address of a host, or its first address if it has none. */
  static InetAddress resolve(URI address, String host) {
    InetAddress[] all;
    try {
      all = InetAddress.getAllByName(host);
    } catch (UnknownHostException e) {
      throw new VerbsException(
          VerbsError.INVALID, "address: " + address + ": unknown host " + host, e);
    }
    for (InetAddress each : all) {
      if (each instanceof Inet4Address four) {
        return four;
      }
    }
    if (all[0].isLinkLocalAddress()) {
      throw notSupported(
          "address: " + address + ": " + text(all[0]) + " (expected: not link-local)");
    }
    return all[0];
  }

  /** Returns an address as written in a URI. */
  public static String text(InetAddress address) {
    String text = address.getHostAddress();
    return address instanceof Inet6Address ? "[" + text.replaceFirst("%.*", "") + "]" : text;
  }

  /**
   * Returns the UDP port on which the host's HCA receives packets. 0 stands for any free port, for
   * an HCA that is opened here.
   */
  public int udpPort() {
    return options.containsKey(Option.UDP_PORT)
        ? number(Option.UDP_PORT, 0, AddressOptions.MAX_PORT)
        : RocePacket.UDP_PORT;
  }

  /**
   * Returns the largest payload of a packet by option {@code mtu}, or null for the most that fits.
   */
  public @Nullable Mtu mtu() {
    if (!options.containsKey(Option.MTU)) {
      return null;
    }
    int bytes = number(Option.MTU, 0, RocePacket.MAX_PAYLOAD);
    for (Mtu mtu : Mtu.values()) {
      if (mtu.bytes() == bytes) {
        return mtu;
      }
    }
    throw AddressOptions.invalid("mtu: " + bytes + " (expected: 256, 512, 1024, 2048 or 4096)");
  }

  /** Returns a limit of connections, or {@code otherwise} if the address sets none. */
  public int limit(Option option, int otherwise) {
    return options.containsKey(option) ? number(option, 1, MOST_HALF_OPEN) : otherwise;
  }

  /**
   * Returns the key that the ends of connections must have, read from its file now; null if
   * connections are not locked.
   *
   * @throws VerbsException {@code INVALID} if there is no such file, or it holds no key
   */
  public @Nullable SharedSecret key() {
    String file = options.get(Option.KEY_FILE);
    return file == null ? null : SharedSecret.read(file);
  }

  /** Returns the local address of option {@code source}, or null. */
  @Nullable InetAddress source() {
    String text = options.get(Option.SOURCE);
    return text == null ? null : resolve(URI.create(SCHEME + "://" + text(host)), text);
  }

  /** Returns the value of an option, or null. */
  public @Nullable String option(Option option) {
    return options.get(option);
  }

  private int number(Option option, int least, int most) {
    String text = options.getOrDefault(option, "");
    int value;
    try {
      value = Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw outOfRange(option, text, least, most);
    }
    if (value < least || value > most) {
      throw outOfRange(option, text, least, most);
    }
    return value;
  }

  private static VerbsException outOfRange(Option option, String text, int least, int most) {
    return AddressOptions.invalid(
        option.text() + ": " + text + " (expected: " + least + ".." + most + ")");
  }

  private static VerbsException notSupported(String message) {
    return new VerbsException(VerbsError.NOT_SUPPORTED, message);
  }
}
