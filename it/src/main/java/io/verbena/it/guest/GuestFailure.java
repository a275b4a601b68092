// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

/** An assertion that failed in the guest; prints as it did there. */
final class GuestFailure extends AssertionError {
  private static final long serialVersionUID = 1;

  GuestFailure(String text) {
    super(text);
  }

  @Override
  @SuppressWarnings(
      "OverrideThrowableToString") // The text begins with the class that was thrown in the guest.
  public String toString() {
    return String.valueOf(getMessage());
  }
}
