// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

/** What another process wrote into shared memory cannot be. */
final class CorruptRingException extends RuntimeException {
  private static final long serialVersionUID = 1;

  CorruptRingException(String what, long value, long most) {
    super(what + ": " + value + " (expected: 0.." + most + ")");
  }
}
