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
 * @param options the options that the address sets; the others have their defaults
 * @param limits the limits that the address sets for the opened device
 */
public record EmulatedAddress(
    String name, Map<Option, String> options, Map<LimitOption, String> limits) {
  /** The scheme of these addresses. */
  public static final String SCHEME = "emulated";

  /** The options of these addresses. An address writes them in lower case with dashes. */
  public enum Option {
    /** {@code sync}, the default, or {@code async}: see {@code EmulatedProvider}. */
    MODE,
    /** {@code simulated}: requests travel in packets; without it, directly. */
    WIRE,
    /** The seed of a simulated wire's faults, or of mode {@code async}: a whole number. */
    SEED,
    /** Microseconds that a packet takes on a simulated wire. */
    LATENCY,
    /** The probability that a packet is lost, 0 to 1. */
    LOSS,
    /** The probability that a packet and all packets behind it are late. */
    DELAY,
    /** The probability that a packet is late, and others overtake it. */
    REORDER,
    /** The probability that a packet comes twice. */
    DUPLICATE,
    /** The probability that bits of a packet are flipped. */
    CORRUPTION,
    /** A file to write all packets of the wire to, as a capture. */
    PCAP,
    /**
     * {@code true} to report the program's mistakes, {@code throw} to throw them, {@code false} for
     * neither.
     */
    SANITIZE,
    /** A name by which the device can be broken: see {@code DeviceFault}. */
    FUSE;

    /**
     * Returns whether the option configures a wire. It then needs {@link #WIRE}, except {@link
     * #SEED} in mode {@code async}.
     */
    public boolean isOfWire() {
      return switch (this) {
        case SEED, LATENCY, LOSS, DELAY, REORDER, DUPLICATE, CORRUPTION, PCAP -> true;
        default -> false;
      };
    }

    /** Returns the option's name as written in an address. */
    public String text() {
      return AddressOptions.text(this);
    }
  }

  /**
   * Reads an address.
   *
   * @throws VerbsException {@code INVALID} for another scheme, no name, or an option that is
   *     unknown or given twice
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
