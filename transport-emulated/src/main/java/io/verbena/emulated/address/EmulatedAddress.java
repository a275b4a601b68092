// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.address;

import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * An address of an emulated HCA: {@code emulated://name?option=value&option=value}.
 *
 * @param name a name within this JVM, to listen on or to connect to
 * @param options what the HCA is to be like; all have a default
 * @param limits what it says of the limits of the device that is opened
 */
public record EmulatedAddress(
    String name, Map<Option, String> options, Map<LimitOption, String> limits) {
  /** The scheme of these addresses. */
  public static final String SCHEME = "emulated";

  /** The options that there are; in an address, in lower case with dashes. */
  public enum Option {
    /** {@code sync}, the default, or {@code async}: see what {@code EmulatedProvider} says. */
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
    /** A name by which the device can be broken: see {@code DeviceFault}. */
    FUSE;

    /** Whether it says something of a wire, and so needs {@link #WIRE}. */
    public boolean isOfWire() {
      return switch (this) {
        case SEED, LATENCY, LOSS, DELAY, REORDER, DUPLICATE, CORRUPTION, PCAP -> true;
        default -> false;
      };
    }

    public String text() {
      return AddressOptions.text(this);
    }
  }

  /**
   * Reads an address.
   *
   * @throws VerbsException {@code INVALID} for another scheme, no name, or an option that is not
   *     known or stands there twice
   */
  public static EmulatedAddress parse(URI address) {
    String name = address.getRawAuthority();
    if (!SCHEME.equalsIgnoreCase(address.getScheme()) || name == null || name.isEmpty()) {
      throw AddressOptions.invalid("address: " + address + " (expected: emulated://name)");
    }
    AddressOptions<Option> read =
        AddressOptions.parse(address, Option.class, UnaryOperator.identity());
    return new EmulatedAddress(name, read.options(), read.limits());
  }
}
