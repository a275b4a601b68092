// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.emulated.address.EmulatedAddress;
import io.verbena.emulated.address.EmulatedAddress.Option;
import io.verbena.emulated.address.WireOptions;
import io.verbena.emulated.cm.local.LocalConnectionManagers;
import io.verbena.emulated.direct.DeferredFabric;
import io.verbena.emulated.direct.DirectFabric;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.Fabric;
import io.verbena.emulated.packet.ClockedFabric;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.HashMap;
import java.util.Map;

/**
 * Opens the devices of {@code emulated://}. Devices with the same options share a fabric and its
 * connection managers.
 */
final class OpenedFabrics {
  private static final String SYNC = "sync";
  private static final String ASYNC = "async";

  /** The fabric of all devices whose options select no other fabric. */
  private static final Network<DirectFabric> DIRECT = new Network<>(new DirectFabric());

  private static final Map<Long, Network<DeferredFabric>> DEFERRED = new HashMap<>();

  /**
   * The fabrics with simulated wires. The map's monitor is held while a device on one of them is
   * opened or closed.
   */
  private static final Map<WireOptions, Network<ClockedFabric>> CLOCKED = new HashMap<>();

  /** A fabric and the connection managers of its devices, which find each other by name. */
  private record Network<F extends Fabric>(F fabric, LocalConnectionManagers managers) {
    Network(F fabric) {
      this(fabric, new LocalConnectionManagers());
    }

    EmulatedDevice open(DeviceAttributes limits) {
      return EmulatedDevice.open(fabric, limits, managers);
    }
  }

  private OpenedFabrics() {}

  /**
   * Opens a device.
   *
   * @throws VerbsException {@code INVALID} for an unknown value of an option, or an option that
   *     another one excludes
   */
  static EmulatedDevice open(EmulatedAddress address) {
    Map<Option, String> options = address.options();
    DeviceAttributes limits = DeviceLimits.of(address.limits());
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
    return wire == null ? DIRECT.open(limits) : openClocked(wire, limits);
  }

  private static EmulatedDevice openDeferred(long seed, DeviceAttributes limits) {
    synchronized (DEFERRED) {
      DEFERRED.values().removeIf(network -> network.fabric.isEmpty());
      return DEFERRED
          .computeIfAbsent(seed, same -> new Network<>(new DeferredFabric(same)))
          .open(limits);
    }
  }

  private static EmulatedDevice openClocked(WireOptions wire, DeviceAttributes limits) {
    synchronized (CLOCKED) {
      Network<ClockedFabric> network = CLOCKED.get(wire);
      if (network == null) {
        network =
            new Network<>(
                ClockedFabric.over(
                    wire.schedule(), wire.capture(), CLOCKED, () -> CLOCKED.remove(wire)));
        CLOCKED.put(wire, network);
      }
      return network.open(limits);
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
