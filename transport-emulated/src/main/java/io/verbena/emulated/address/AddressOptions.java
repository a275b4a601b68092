// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.address;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The options of an address, {@code ?option=value&option=value}. Option names are in lower case
 * with dashes.
 *
 * @param options the options of the address's scheme
 * @param limits the limits of the device, which every scheme has
 */
record AddressOptions<O extends Enum<O>>(Map<O, String> options, Map<LimitOption, String> limits) {
  static final int MAX_PORT = 65_535;

  /**
   * Reads the query of an address.
   *
   * @param type the options of the address's scheme
   * @param decoding decodes a value from the query
   * @throws VerbsException {@code INVALID} for an option that is unknown or given twice, or a value
   *     that cannot be decoded
   */
  static <O extends Enum<O>> AddressOptions<O> parse(
      URI address, Class<O> type, UnaryOperator<String> decoding) {
    AddressOptions<O> read =
        new AddressOptions<>(new EnumMap<>(type), new EnumMap<>(LimitOption.class));
    String query = address.getRawQuery();
    if (query == null) {
      return read;
    }
    for (String part : query.split("&", -1)) {
      int equals = part.indexOf('=');
      String option = equals < 0 ? part : part.substring(0, equals);
      String value = equals < 0 ? "" : decode(address, part.substring(equals + 1), decoding);
      if (!put(address, option(LimitOption.class, option), value, read.limits)
          && !put(address, option(type, option), value, read.options)) {
        throw unknown(address, option, type);
      }
    }
    return read;
  }

  private static <O extends Enum<O>> boolean put(
      URI address, @Nullable O option, String value, Map<O, String> into) {
    if (option == null) {
      return false;
    }
    if (into.put(option, value) != null) {
      throw invalid("address: " + address + ": " + text(option) + " stands there twice");
    }
    return true;
  }

  private static String decode(URI address, String value, UnaryOperator<String> decoding) {
    try {
      return decoding.apply(value);
    } catch (IllegalArgumentException e) {
      throw new VerbsException(
          VerbsError.INVALID, "address: " + address + ": " + value + ": " + e.getMessage(), e);
    }
  }

  private static <O extends Enum<O>> @Nullable O option(Class<O> type, String text) {
    for (O option : type.getEnumConstants()) {
      if (text(option).equals(text)) {
        return option;
      }
    }
    return null;
  }

  private static VerbsException unknown(URI address, String option, Class<? extends Enum<?>> type) {
    return invalid(
        "address: "
            + address
            + ": option: "
            + option
            + " (expected: one of "
            + Stream.concat(Stream.of(type.getEnumConstants()), Stream.of(LimitOption.values()))
                .map(AddressOptions::text)
                .collect(Collectors.joining(", "))
            + ")");
  }

  /** Returns a value decoded as {@code application/x-www-form-urlencoded}. */
  static String decodeForm(String value) {
    return URLDecoder.decode(value, StandardCharsets.UTF_8);
  }

  /** Returns a path encoded for a query, which {@link #decodeForm} reads. */
  static String encodePath(String path) {
    // Decoders that do not know forms understand "%20", too, as a space; "/" stays as it is.
    return URLEncoder.encode(path, StandardCharsets.UTF_8).replace("+", "%20").replace("%2F", "/");
  }

  /**
   * Returns the port of an address, or -1 if it names none.
   *
   * @throws VerbsException {@code INVALID} for a port out of range
   */
  static int port(URI address) {
    int port = address.getPort();
    if (port > MAX_PORT) {
      throw invalid("address: " + address + ": port: " + port + " (expected: 0.." + MAX_PORT + ")");
    }
    return port;
  }

  /** Returns an option's name as written in an address. */
  static String text(Enum<?> option) {
    return option.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static VerbsException invalid(String message) {
    return new VerbsException(VerbsError.INVALID, message);
  }
}
