// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import static java.util.Objects.requireNonNull;

import io.verbena.verbs.Device;

/** Wraps devices. */
public final class Sanitizer {
  /** The system property that makes findings throw in every sanitized device. */
  public static final String THROW = "verbena.sanitizer.throw";

  private Sanitizer() {}

  /**
   * Returns a device that does what {@code device} does and reports the program's mistakes to
   * {@link Findings}. Closing it closes the device.
   *
   * @param device any provider's device; its objects and the wrapped ones must not be mixed
   */
  public static Device sanitize(Device device) {
    return sanitize(device, Boolean.getBoolean(THROW));
  }

  /**
   * Returns such a device.
   *
   * @param throwing whether a verb that finds a mistake throws a {@link FindingException}, after it
   *     was done
   */
  public static Device sanitize(Device device, boolean throwing) {
    return new SanitizedDevice(requireNonNull(device, "device"), throwing, CallSite.here());
  }
}
