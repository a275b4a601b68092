// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.emulated.address.LimitOption;
import io.verbena.verbs.Capability;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * The limits of a device: those of the emulated HCA, or lower ones from an address, to test how
 * programs behave at them.
 */
public final class DeviceLimits {
  private static final String VERSION = "verbena-direct-1";
  private static final String WIRE_VERSION = "verbena-roce-1";
  private static final String STREAM_VERSION = "verbena-iwarp-1";

  private static final Set<Capability> ALL =
      Collections.unmodifiableSet(EnumSet.allOf(Capability.class));

  /**
   * The capabilities for which iWARP has messages (RFC 5040, 7306), and those that need no
   * messages.
   */
  private static final Set<Capability> OF_STREAMS =
      Collections.unmodifiableSet(
          EnumSet.of(
              Capability.IMMEDIATE_DATA,
              Capability.ATOMICS,
              Capability.INLINE_DATA,
              Capability.SHARED_RECEIVE_QUEUE,
              Capability.MEMORY_WINDOW_TYPE_1,
              Capability.MEMORY_WINDOW_TYPE_2B,
              Capability.REREGISTRATION,
              Capability.COMPLETION_QUEUE_RESIZE,
              Capability.LOCAL_INVALIDATE,
              Capability.LOCAL_READ_SINKS,
              Capability.SEND_WITH_INVALIDATE));

  /** The limits of an address without options. */
  public static final DeviceAttributes FULL = of(Map.of());

  private DeviceLimits() {}

  /**
   * Returns the limits with these options.
   *
   * @throws VerbsException {@code INVALID} for a value that is not a number from 1 to the full
   *     limit
   */
  public static DeviceAttributes of(Map<LimitOption, String> options) {
    return of(EmulatedDevice.NAME, VERSION, ALL, options);
  }

  /**
   * Returns the limits with these options of a device that exchanges RoCEv2 packets with other
   * processes.
   *
   * @throws VerbsException {@code INVALID} for a value that is not a number from 1 to the full
   *     limit
   */
  public static DeviceAttributes ofWire(String name, Map<LimitOption, String> options) {
    return of(name, WIRE_VERSION, ALL, options);
  }

  /**
   * Returns the limits with these options of an iWARP device: only reliable connections, and
   * immediate data only with WRITEs.
   *
   * @throws VerbsException {@code INVALID} for a value that is not a number from 1 to the full
   *     limit
   */
  public static DeviceAttributes ofStreams(String name, Map<LimitOption, String> options) {
    return of(name, STREAM_VERSION, OF_STREAMS, options);
  }

  private static DeviceAttributes of(
      String name, String version, Set<Capability> capabilities, Map<LimitOption, String> options) {
    int readAtomic = limit(options, LimitOption.MAX_READ_ATOMIC, 128);
    return new DeviceAttributes(
        name,
        version,
        capabilities,
        limit(options, LimitOption.MAX_QUEUE_PAIRS, 1 << 16),
        limit(options, LimitOption.MAX_WORK_REQUESTS, 1 << 15),
        limit(options, LimitOption.MAX_SCATTER_GATHER, EmulatedDevice.MAX_SCATTER_GATHER),
        limit(options, LimitOption.MAX_INLINE_DATA, 1024),
        limit(options, LimitOption.MAX_COMPLETION_QUEUES, 1 << 16),
        limit(options, LimitOption.MAX_COMPLETIONS, 1 << 22),
        limit(options, LimitOption.MAX_MEMORY_REGIONS, 1 << 20),
        limit(options, LimitOption.MAX_MEMORY_REGION_SIZE, Integer.MAX_VALUE),
        limit(options, LimitOption.MAX_PROTECTION_DOMAINS, 1 << 16),
        limit(options, LimitOption.MAX_MEMORY_WINDOWS, 1 << 20),
        capabilities.contains(Capability.UNRELIABLE_DATAGRAM)
            ? limit(options, LimitOption.MAX_ADDRESS_HANDLES, 1 << 16)
            : 0,
        limit(options, LimitOption.MAX_SHARED_RECEIVE_QUEUES, 1 << 16),
        limit(options, LimitOption.MAX_SHARED_RECEIVE_REQUESTS, 1 << 15),
        readAtomic,
        readAtomic,
        limit(options, LimitOption.MAX_MESSAGE_SIZE, 1 << 30));
  }

  private static int limit(Map<LimitOption, String> options, LimitOption option, int full) {
    String text = options.get(option);
    if (text == null) {
      return full;
    }
    int value;
    try {
      value = Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw invalid(option, text, full);
    }
    if (value < 1 || value > full) {
      throw invalid(option, text, full);
    }
    return value;
  }

  private static VerbsException invalid(LimitOption option, String text, int full) {
    return new VerbsException(
        VerbsError.INVALID, option.text() + ": " + text + " (expected: 1.." + full + ")");
  }
}
