package io.verbena.emulated;

import io.verbena.emulated.EmulatedAddress.Option;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.HashMap;
import java.util.Map;

/** Opens devices by address, those with the same options on the same fabric. */
final class OpenFabrics {
  private static final String SYNC = "sync";
  private static final String ASYNC = "async";
  private static final Map<Long, DeferredFabric> DEFERRED = new HashMap<>();

  private OpenFabrics() {}

  /**
   * Opens a device.
   *
   * @throws VerbsException {@code INVALID} for an option's value that is not known, or one that
   *     does not go with another
   */
  static EmulatedDevice open(EmulatedAddress address) {
    Map<Option, String> options = address.options();
    DeviceAttributes limits = DeviceLimits.of(options);
    String mode = options.getOrDefault(Option.MODE, SYNC);
    if (mode.equals(ASYNC)) {
      for (Option option : options.keySet()) {
        if (option == Option.WIRE || (option.isOfWire() && option != Option.SEED)) {
          throw invalid(option, options.get(option), "nothing with mode=async");
        }
      }
      return openDeferred(seed(options.getOrDefault(Option.SEED, "0")), limits);
    }
    if (!mode.equals(SYNC)) {
      throw invalid(Option.MODE, mode, SYNC + " or " + ASYNC);
    }
    WireOptions wire = WireOptions.of(options);
    return wire == null
        ? EmulatedDevice.open(Fabric.DIRECT, limits)
        : ClockedFabric.open(wire, limits);
  }

  private static EmulatedDevice openDeferred(long seed, DeviceAttributes limits) {
    synchronized (DEFERRED) {
      DEFERRED.values().removeIf(Fabric::isEmpty);
      return EmulatedDevice.open(DEFERRED.computeIfAbsent(seed, DeferredFabric::new), limits);
    }
  }

  private static long seed(String value) {
    try {
      return Long.parseLong(value);
    } catch (NumberFormatException e) {
      throw invalid(Option.SEED, value, "a whole number");
    }
  }

  private static VerbsException invalid(Option option, String value, String expected) {
    return new VerbsException(
        VerbsError.INVALID, option.text() + ": " + value + " (expected: " + expected + ")");
  }
}
