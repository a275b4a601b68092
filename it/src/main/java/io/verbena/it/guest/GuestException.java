// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

/**
 * A throwable of the guest that is no failed assertion, or a failure of the guest itself; prints as
 * its text.
 */
final class GuestException extends RuntimeException {
  private static final long serialVersionUID = 1;

  GuestException(String text) {
    super(text);
  }

  @Override
  @SuppressWarnings(
      "OverrideThrowableToString") // The text begins with the class that was thrown in the guest.
  public String toString() {
    return String.valueOf(getMessage());
  }
}
