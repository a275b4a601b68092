// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import static java.util.Objects.requireNonNull;

import io.verbena.verbs.Device;

/** Wraps devices, to report mistakes of the programs that use them. */
public final class Sanitizer {
  /**
   * The system property that, if true, makes {@link #sanitize(Device)} wrap devices so that they
   * throw.
   */
  public static final String THROW = "verbena.sanitizer.throw";

  private Sanitizer() {}

  /**
   * Returns a device that does what {@code device} does, and reports the program's mistakes to
   * {@link Findings}. Closing the returned device closes {@code device}.
   *
   * @param device the device of any provider; the program must not mix its objects with those of
   *     the returned device
   */
  public static Device sanitize(Device device) {
    return sanitize(device, Boolean.getBoolean(THROW));
  }

  /**
   * Returns a device that does what {@code device} does, and reports the program's mistakes to
   * {@link Findings}. Closing the returned device closes {@code device}.
   *
   * @param throwing whether a verb that finds a mistake throws a {@link FindingException} after it
   *     was done
   */
  public static Device sanitize(Device device, boolean throwing) {
    return new SanitizedDevice(requireNonNull(device, "device"), throwing, CallSite.here());
  }
}
