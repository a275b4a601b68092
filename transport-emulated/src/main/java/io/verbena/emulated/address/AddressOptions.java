// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.address;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** The options of an address, {@code ?option=value&option=value}: in lower case with dashes. */
final class AddressOptions {
  private AddressOptions() {}

  /**
   * Reads the query of an address.
   *
   * @param type the options that there are
   * @param decoding makes a value of what stands in the query
   * @throws VerbsException {@code INVALID} for an option that is not known or stands there twice,
   *     or a value that cannot be decoded
   */
  static <O extends Enum<O>> Map<O, String> parse(
      URI address, Class<O> type, UnaryOperator<String> decoding) {
    Map<O, String> options = new EnumMap<>(type);
    String query = address.getRawQuery();
    if (query == null) {
      return options;
    }
    for (String part : query.split("&", -1)) {
      int equals = part.indexOf('=');
      O option = option(address, type, equals < 0 ? part : part.substring(0, equals));
      String value = equals < 0 ? "" : decode(address, part.substring(equals + 1), decoding);
      if (options.put(option, value) != null) {
        throw invalid("address: " + address + ": " + text(option) + " stands there twice");
      }
    }
    return options;
  }

  private static String decode(URI address, String value, UnaryOperator<String> decoding) {
    try {
      return decoding.apply(value);
    } catch (IllegalArgumentException e) {
      throw new VerbsException(
          VerbsError.INVALID, "address: " + address + ": " + value + ": " + e.getMessage(), e);
    }
  }

  private static <O extends Enum<O>> O option(URI address, Class<O> type, String text) {
    for (O option : type.getEnumConstants()) {
      if (text(option).equals(text)) {
        return option;
      }
    }
    throw invalid(
        "address: "
            + address
            + ": option: "
            + text
            + " (expected: one of "
            + Arrays.stream(type.getEnumConstants())
                .map(AddressOptions::text)
                .collect(Collectors.joining(", "))
            + ")");
  }

  /** An option as it stands in an address. */
  static String text(Enum<?> option) {
    return option.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static VerbsException invalid(String message) {
    return new VerbsException(VerbsError.INVALID, message);
  }
}
