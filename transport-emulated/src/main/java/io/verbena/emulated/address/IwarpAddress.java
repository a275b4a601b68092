// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.address;

import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.verbs.VerbsException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An address of an iWARP HCA: {@code iwarp://host:port?option=value}.
 *
 * @param host an address of this machine, or one to reach
 * @param port the TCP port; 0 if the address names none
 * @param options the address's options
 * @param limits the limits that the address sets for the opened device
 */
public record IwarpAddress(
    InetAddress host, int port, Map<Option, String> options, Map<LimitOption, String> limits) {
  /** The scheme of these addresses. */
  public static final String SCHEME = "iwarp";

  /** The options of these addresses. An address writes them in lower case with dashes. */
  public enum Option {
    /** {@code true} to request CRCs in FPDUs; default {@code false}. */
    CRC,
    /**
     * {@code false} to disable atomics and immediate data even if the peer supports them; default
     * {@code true}.
     */
    EXTENSIONS,
    /** The local address to connect from. */
    SOURCE,
    /** A capture file to write all bytes to. */
    PCAP,
    /** A file with the key that both ends of a connection must have. */
    KEY_FILE,
    /** As in {@code emulated://}. */
    SANITIZE
  }

  /**
   * Reads an address.
   *
   * @throws VerbsException {@code INVALID} for another scheme, a host without an address, an option
   *     that is unknown or given twice, or a value out of range
   */
  public static IwarpAddress parse(URI address) {
    String host = address.getHost();
    if (!SCHEME.equalsIgnoreCase(address.getScheme()) || host == null) {
      throw AddressOptions.invalid("address: " + address + " (expected: iwarp://host:port)");
    }
    int port = Math.max(0, AddressOptions.port(address));
    AddressOptions<Option> read =
        AddressOptions.parse(address, Option.class, AddressOptions::decodeForm);
    checkBoolean("crc", read.options().get(Option.CRC));
    checkBoolean("extensions", read.options().get(Option.EXTENSIONS));
    return new IwarpAddress(
        RoceAddress.resolve(address, host), port, read.options(), read.limits());
  }

  private static void checkBoolean(String option, @Nullable String value) {
    if (value != null && !value.equals("true") && !value.equals("false")) {
      throw AddressOptions.invalid(option + ": " + value + " (expected: true or false)");
    }
  }

  /** Resolves the host of an address; returns the IP address as written in a URI. */
  public static String lookup(URI address, String host) {
    return RoceAddress.lookup(address, host);
  }

  /** Returns a human-readable peer address, for logs. */
  public static String text(InetSocketAddress peer) {
    return SCHEME + "://" + RoceAddress.text(peer.getAddress()) + ':' + peer.getPort();
  }

  /** Returns whether this end requests CRCs. FPDUs carry them if either end requests them. */
  public boolean crc() {
    return "true".equals(options.get(Option.CRC));
  }

  /** Returns whether this end uses atomics and immediate data if the peer supports them. */
  public boolean extensions() {
    return !"false".equals(options.get(Option.EXTENSIONS));
  }

  /** Returns the local address of option {@code source}, or null. */
  public @Nullable InetAddress source() {
    String source = options.get(Option.SOURCE);
    return source == null
        ? null
        : RoceAddress.resolve(URI.create(SCHEME + "://" + RoceAddress.text(host)), source);
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

  /** Returns the value of an option, or null. */
  public @Nullable String option(Option option) {
    return options.get(option);
  }

  /**
   * Returns an address of the same host with another port, and with the options that a peer needs
   * to connect.
   */
  public URI at(int other) {
    StringBuilder text = new StringBuilder(text(new InetSocketAddress(host, other)));
    char separator = '?';
    if (options.containsKey(Option.CRC)) {
      text.append(separator).append("crc=").append(options.get(Option.CRC));
      separator = '&';
    }
    String keyFile = options.get(Option.KEY_FILE);
    if (keyFile != null) {
      text.append(separator).append(AddressOptions.text(Option.KEY_FILE)).append('=');
      text.append(AddressOptions.encodePath(keyFile));
    }
    return URI.create(text.toString());
  }
}
