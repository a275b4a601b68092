// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.address;

import io.verbena.emulated.address.EmulatedAddress.Option;
import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The simulated wire that an address configures.
 *
 * @param schedule the faults and the latency of the wire
 * @param capture the file that packets are written to, or null
 */
public record WireOptions(FaultSchedule schedule, @Nullable String capture) {
  private static final String SIMULATED = "simulated";
  private static final long NANOS_PER_MICRO = 1000;
  private static final long LATE_NANOS = 100 * NANOS_PER_MICRO;
  private static final int MAX_LATENCY_MICROS = 1_000_000;
  private static final int FLIPPED_BITS = 3;

  /**
   * Returns the wire that these options configure, or null if they have no {@link Option#WIRE}.
   *
   * @throws VerbsException {@code INVALID} for a value out of range, or an option of a wire without
   *     {@link Option#WIRE}
   */
  public static @Nullable WireOptions of(Map<Option, String> options) {
    String wire = options.get(Option.WIRE);
    if (wire == null) {
      for (Option option : options.keySet()) {
        if (option.isOfWire()) {
          throw invalid(option, "without " + Option.WIRE.text(), SIMULATED);
        }
      }
      return null;
    }
    if (!wire.equals(SIMULATED)) {
      throw invalid(Option.WIRE, wire, SIMULATED);
    }
    long seed = whole(options, Option.SEED, Long.MIN_VALUE, Long.MAX_VALUE);
    List<Fault> faults = new ArrayList<>();
    add(faults, Fault.Kind.LOSS, 0, seed, options, Option.LOSS);
    add(faults, Fault.Kind.DELAY, LATE_NANOS, seed, options, Option.DELAY);
    add(faults, Fault.Kind.REORDER, LATE_NANOS, seed, options, Option.REORDER);
    add(faults, Fault.Kind.DUPLICATE, LATE_NANOS, seed, options, Option.DUPLICATE);
    add(faults, Fault.Kind.CORRUPTION, FLIPPED_BITS, seed, options, Option.CORRUPTION);
    long latency = whole(options, Option.LATENCY, 0, MAX_LATENCY_MICROS) * NANOS_PER_MICRO;
    return new WireOptions(new FaultSchedule(latency, faults), options.get(Option.PCAP));
  }

  private static void add(
      List<Fault> faults,
      Fault.Kind kind,
      long amount,
      long seed,
      Map<Option, String> options,
      Option option) {
    int perMillion = probability(options, option);
    if (perMillion > 0) {
      faults.add(Fault.always(kind, perMillion, amount, seed + faults.size()));
    }
  }

  private static int probability(Map<Option, String> options, Option option) {
    String text = options.getOrDefault(option, "0");
    double value;
    try {
      value = Double.parseDouble(text);
    } catch (NumberFormatException e) {
      throw invalid(option, text, "0 to 1");
    }
    if (!(value >= 0 && value <= 1)) {
      throw invalid(option, text, "0 to 1");
    }
    return (int) Math.round(value * Fault.ALWAYS);
  }

  private static long whole(Map<Option, String> options, Option option, long least, long most) {
    String text = options.getOrDefault(option, "0");
    String expected = least + ".." + most;
    long value;
    try {
      value = Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw invalid(option, text, expected);
    }
    if (value < least || value > most) {
      throw invalid(option, text, expected);
    }
    return value;
  }

  private static VerbsException invalid(Option option, String value, String expected) {
    return new VerbsException(
        VerbsError.INVALID, option.text() + ": " + value + " (expected: " + expected + ")");
  }
}
