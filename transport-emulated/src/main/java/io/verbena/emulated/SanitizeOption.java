// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.emulated.sanitizer.Sanitizer;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The option {@code sanitize} of an address. */
final class SanitizeOption {
  private SanitizeOption() {}

  /**
   * Opens a device, and wraps it in the sanitizer if the option says so.
   *
   * @param value {@code false}, {@code true}, {@code throw}, or null for false
   * @throws VerbsException {@code INVALID} for any other value, before the device is opened
   */
  static Device open(@Nullable String value, Supplier<Device> device) {
    if (value == null || value.equals("false")) {
      return device.get();
    }
    return switch (value) {
      case "true" -> Sanitizer.sanitize(device.get());
      case "throw" -> Sanitizer.sanitize(device.get(), true);
      default ->
          throw new VerbsException(
              VerbsError.INVALID, "sanitize: " + value + " (expected: false, true or throw)");
    };
  }
}
