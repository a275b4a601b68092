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
 * {@code disni://host:port?option=value}; all options may be left out, and are {@link #UNSET} then,
 * or null.
 *
 * @param socket host and port, the port 0 if there is none
 * @param device the device to use, by name, or null for the one that has or reaches the host
 * @param gid the index of the GID to connect from
 * @param source the address to connect from, which also chooses the device, or null
 * @param tos the type of service of what connections send
 * @param ackTimeout the code of the time without an answer after which a queue pair repeats
 * @param rnrTimer the code of the time that a peer waits which has found no receive
 * @param vector the completion vector of the device
 * @param relaxedOrdering whether the device may write the bytes of one message in any order
 */
public record DisniAddress(
    InetSocketAddress socket,
    @Nullable String device,
    int gid,
    @Nullable InetAddress source,
    int tos,
    int ackTimeout,
    int rnrTimer,
    int vector,
    boolean relaxedOrdering) {
  /** The scheme of addresses of RNICs. */
  public static final String SCHEME = "disni";

  /** What a number is that the address does not say. */
  public static final int UNSET = -1;

  private static final int MAX_PORT = 65_535;
  private static final int MAX_TOS = 255;
  private static final int MAX_CODE = 31;
  private static final List<String> OPTIONS =
      List.of(
          "device",
          "gid",
          "source",
          "tos",
          "ack-timeout",
          "rnr-timer",
          "vector",
          "relaxed-ordering");

  /**
   * Reads an address, and looks its hosts up.
   *
   * @throws VerbsException {@code INVALID} if it is none, or names an unknown host
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
    return new DisniAddress(
        new InetSocketAddress(resolve(address, host), Math.max(0, address.getPort())),
        options.get("device"),
        number(address, options, "gid", Integer.MAX_VALUE),
        source == null ? null : resolve(address, source),
        number(address, options, "tos", MAX_TOS),
        number(address, options, "ack-timeout", MAX_CODE),
        number(address, options, "rnr-timer", MAX_CODE),
        number(address, options, "vector", Integer.MAX_VALUE),
        flag(address, options, "relaxed-ordering"));
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

  private static int number(URI address, Map<String, String> options, String option, int most) {
    String text = options.get(option);
    if (text == null) {
      return UNSET;
    }
    String expected =
        option + ": " + text + " (expected: 0.." + (most == Integer.MAX_VALUE ? "" : most) + ")";
    try {
      int number = Integer.parseInt(text);
      if (number >= 0 && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw new VerbsException(VerbsError.INVALID, "address: " + address + " " + expected, e);
    }
    throw invalid(address, expected);
  }

  /** Looks a host of an address up; returns its address as it stands in a URI. */
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

  /** The URI of a bound or connected socket address. */
  public static URI uri(String scheme, InetSocketAddress socket) {
    return URI.create(scheme + "://" + text(socket.getAddress()) + ":" + socket.getPort());
  }

  private static String text(InetAddress address) {
    String host = address.getHostAddress();
    return host.indexOf(':') < 0 ? host : "[" + host + "]";
  }
}
