// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni.address;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A parsed address {@code disni://host:port?option=value}. An option that the address does not set
 * is {@link #UNSET} or null.
 *
 * @param socket host and port; port 0 if the address has none
 * @param device the name of the device, or null for the device that has the host's address or a
 *     route to it
 * @param port the number of the device's port, or {@link #UNSET} for the port that has or reaches
 *     the host
 * @param gid the index of the GID to connect from
 * @param source the address to connect from, which also chooses the device, or null
 * @param tos the type of service of the packets of connections, 0 to 255
 * @param ackTimeout the code, 0 to 31, of a queue pair's ACK timeout
 * @param rnrTimer the code, 0 to 31, of the RNR timer that a queue pair tells its peer
 * @param vector the completion vector of the device's completion queues
 * @param relaxedOrdering whether the device may write the bytes of one message in any order
 * @param cqCount the number of completions after which a completion queue raises an event; set if
 *     {@code cqPeriod} is set
 * @param cqPeriod the number of microseconds after which a completion queue raises an event even
 *     for fewer completions
 */
public record DisniAddress(
    InetSocketAddress socket,
    @Nullable String device,
    int port,
    int gid,
    @Nullable InetAddress source,
    int tos,
    int ackTimeout,
    int rnrTimer,
    int vector,
    boolean relaxedOrdering,
    int cqCount,
    int cqPeriod) {
  /** The scheme of DiSNI addresses, without {@code ://}. */
  public static final String SCHEME = "disni";

  /** The value of a numeric option that the address does not set. */
  public static final int UNSET = -1;

  private static final int MAX_PORT = 65_535;
  private static final int MAX_TOS = 255;
  private static final int MAX_CODE = 31;

  /** The fields of {@code struct ibv_moderate_cq} have 16 bits. */
  private static final int MAX_MODERATION = 65_535;

  private static final List<String> OPTIONS =
      List.of(
          "device",
          "port",
          "gid",
          "source",
          "tos",
          "ack-timeout",
          "rnr-timer",
          "vector",
          "relaxed-ordering",
          "cq-count",
          "cq-period");

  /**
   * Parses an address and looks up its host names, which may block on DNS.
   *
   * @param scheme the expected scheme, without {@code ://}
   * @throws VerbsException {@code INVALID} if the address is malformed or names an unknown host
   */
  public static DisniAddress parse(String scheme, URI address) {
    String host = address.getHost();
    if (!scheme.equalsIgnoreCase(address.getScheme()) || host == null) {
      throw invalid(address, "(expected: " + scheme + "://host:port)");
    }
    if (address.getPort() > MAX_PORT) {
      throw invalid(address, "port: " + address.getPort() + " (expected: 0 to " + MAX_PORT + ")");
    }
    Map<String, String> options = options(address);
    String source = options.get("source");
    requireBoth(address, options, "cq-count", "cq-period");
    return new DisniAddress(
        new InetSocketAddress(resolve(address, host), Math.max(0, address.getPort())),
        options.get("device"),
        number(address, options, "port", 1, Integer.MAX_VALUE),
        number(address, options, "gid", Integer.MAX_VALUE),
        source == null ? null : resolve(address, source),
        number(address, options, "tos", MAX_TOS),
        number(address, options, "ack-timeout", MAX_CODE),
        number(address, options, "rnr-timer", MAX_CODE),
        number(address, options, "vector", Integer.MAX_VALUE),
        flag(address, options, "relaxed-ordering"),
        number(address, options, "cq-count", 1, MAX_MODERATION),
        number(address, options, "cq-period", 1, MAX_MODERATION));
  }

  private static Map<String, String> options(URI address) {
    Map<String, String> options = new HashMap<>();
    String query = address.getRawQuery();
    if (query == null) {
      return options;
    }
    for (String option : query.split("&", -1)) {
      int equals = option.indexOf('=');
      String name = equals < 0 ? option : option.substring(0, equals);
      if (equals < 0 || !OPTIONS.contains(name)) {
        throw invalid(address, "option: " + option + " (expected: " + OPTIONS + ")");
      }
      options.put(name, URLDecoder.decode(option.substring(equals + 1), StandardCharsets.UTF_8));
    }
    return options;
  }

  private static boolean flag(URI address, Map<String, String> options, String option) {
    String text = options.getOrDefault(option, "false");
    if (!text.equals("true") && !text.equals("false")) {
      throw invalid(address, option + ": " + text + " (expected: true or false)");
    }
    return text.equals("true");
  }

  /**
   * Refuses one option without the other. A count without a period would never raise an event for
   * the last completions, and no man page defines a count of 0.
   */
  private static void requireBoth(
      URI address, Map<String, String> options, String one, String other) {
    if (options.containsKey(one) != options.containsKey(other)) {
      boolean hasOne = options.containsKey(one);
      String given = hasOne ? one : other;
      String missing = hasOne ? other : one;
      throw invalid(
          address, given + ": " + options.get(given) + " (expected: with " + missing + ")");
    }
  }

  private static int number(URI address, Map<String, String> options, String option, int most) {
    return number(address, options, option, 0, most);
  }

  private static int number(
      URI address, Map<String, String> options, String option, int least, int most) {
    String text = options.get(option);
    if (text == null) {
      return UNSET;
    }
    String limit = most == Integer.MAX_VALUE ? "" : String.valueOf(most);
    String expected = option + ": " + text + " (expected: " + least + ".." + limit + ")";
    try {
      int number = Integer.parseInt(text);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw new VerbsException(VerbsError.INVALID, "address: " + address + " " + expected, e);
    }
    throw invalid(address, expected);
  }

  /**
   * Looks up a host name of an address, which may block on DNS; returns the IP address in URI
   * syntax.
   */
  public static String lookup(URI address, String host) {
    return text(resolve(address, host));
  }

  private static InetAddress resolve(URI address, String host) {
    try {
      return InetAddress.getByName(host);
    } catch (UnknownHostException e) {
      throw new VerbsException(
          VerbsError.INVALID, "address: " + address + ": unknown host " + host, e);
    }
  }

  private static VerbsException invalid(URI address, String why) {
    return new VerbsException(VerbsError.INVALID, "address: " + address + " " + why);
  }

  /** Returns the URI of a bound or connected socket address. */
  public static URI uri(String scheme, InetSocketAddress socket) {
    return URI.create(scheme + "://" + text(socket.getAddress()) + ":" + socket.getPort());
  }

  private static String text(InetAddress address) {
    String host = address.getHostAddress();
    return host.indexOf(':') < 0 ? host : "[" + host + "]";
  }
}
