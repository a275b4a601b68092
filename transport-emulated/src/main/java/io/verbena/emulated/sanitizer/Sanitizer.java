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
   * A device that does what {@code device} does and tells {@link Findings} of the program's
   * mistakes. Closing it closes the device.
   *
   * @param device any provider's; its objects and the wrapped ones are not to be mixed
   */
  public static Device sanitize(Device device) {
    return sanitize(device, Boolean.getBoolean(THROW));
  }

  /**
   * The same.
   *
   * @param throwing whether a verb that finds something throws a {@link FindingException}, after it
   *     was done
   */
  public static Device sanitize(Device device, boolean throwing) {
    return new SanitizedDevice(requireNonNull(device, "device"), throwing, CallSite.here());
  }
}
