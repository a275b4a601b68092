// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

/** Thrown when another process wrote an impossible value into shared memory. */
final class CorruptRingException extends RuntimeException {
  private static final long serialVersionUID = 1;

  CorruptRingException(String what, long value, long most) {
    super(what + ": " + value + " (expected: 0.." + most + ")");
  }
}
