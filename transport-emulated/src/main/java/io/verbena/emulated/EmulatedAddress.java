package io.verbena.emulated;

import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * An address of an emulated HCA: {@code emulated://name?option=value&option=value}.
 *
 * @param name a name within this JVM, to listen on or to connect to
 * @param options what the HCA is to be like; all have a default
 */
record EmulatedAddress(String name, Map<Option, String> options) {
  static final String SCHEME = "emulated";

  /** The options that there are; in an address, in lower case with dashes. */
  enum Option {
    /** {@code sync}, the default, or {@code async}: see {@link DeferredFabric}. */
    MODE,
    /** How requests travel: {@code simulated}, in packets; without it, directly. */
    WIRE,
    /** What chance on a simulated wire, or of mode {@code async}, is made of: a whole number. */
    SEED,
    /** Microseconds that a packet takes on a simulated wire. */
    LATENCY,
    /** The probability that a packet is lost, 0 to 1. */
    LOSS,
    /** The probability that a packet is late, and all behind it. */
    DELAY,
    /** The probability that a packet is late, and others overtake it. */
    REORDER,
    /** The probability that a packet comes twice. */
    DUPLICATE,
    /** The probability that bits of a packet are flipped. */
    CORRUPTION,
    /** A file to write all packets of the wire to, as a capture. */
    PCAP,
    /** Whether the sanitizer watches: {@code false}, {@code true}, or {@code throw}. */
    SANITIZE,
    /** A name by which the device can be broken: see {@link Fuse}. */
    FUSE,
    /** Limits of the device, each at the most what it is without the option. */
    MAX_QUEUE_PAIRS,
    MAX_WORK_REQUESTS,
    MAX_SCATTER_GATHER,
    MAX_INLINE_DATA,
    MAX_COMPLETION_QUEUES,
    MAX_COMPLETIONS,
    MAX_MEMORY_REGIONS,
    MAX_MEMORY_REGION_SIZE,
    MAX_PROTECTION_DOMAINS,
    MAX_MEMORY_WINDOWS,
    MAX_ADDRESS_HANDLES,
    MAX_SHARED_RECEIVE_QUEUES,
    MAX_SHARED_RECEIVE_REQUESTS,
    MAX_READ_ATOMIC,
    MAX_MESSAGE_SIZE;

    /** Whether it says something of a wire, and so needs {@link #WIRE}. */
    boolean isOfWire() {
      return switch (this) {
        case SEED, LATENCY, LOSS, DELAY, REORDER, DUPLICATE, CORRUPTION, PCAP -> true;
        default -> false;
      };
    }

    String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /**
   * Reads an address.
   *
   * @throws VerbsException {@code INVALID} for another scheme, no name, or an option that is not
   *     known or stands there twice
   */
  static EmulatedAddress parse(URI address) {
    String name = address.getRawAuthority();
    if (!SCHEME.equalsIgnoreCase(address.getScheme()) || name == null || name.isEmpty()) {
      throw invalid("address: " + address + " (expected: emulated://name)");
    }
    Map<Option, String> options = new EnumMap<>(Option.class);
    String query = address.getRawQuery();
    if (query != null) {
      for (String part : query.split("&", -1)) {
        int equals = part.indexOf('=');
        Option option = option(address, equals < 0 ? part : part.substring(0, equals));
        if (options.put(option, equals < 0 ? "" : part.substring(equals + 1)) != null) {
          throw invalid("address: " + address + ": " + option.text() + " stands there twice");
        }
      }
    }
    return new EmulatedAddress(name, options);
  }

  /**
   * Has a device sanitized as the address asks for it.
   *
   * @throws VerbsException {@code INVALID} for a value that is none
   */
  Device sanitized(Supplier<Device> device) {
    return SanitizeOption.open(options.get(Option.SANITIZE), device);
  }

  private static Option option(URI address, String text) {
    for (Option option : Option.values()) {
      if (option.text().equals(text)) {
        return option;
      }
    }
    throw invalid(
        "address: "
            + address
            + ": option: "
            + text
            + " (expected: one of "
            + Arrays.stream(Option.values()).map(Option::text).collect(Collectors.joining(", "))
            + ")");
  }

  private static VerbsException invalid(String message) {
    return new VerbsException(VerbsError.INVALID, message);
  }
}
