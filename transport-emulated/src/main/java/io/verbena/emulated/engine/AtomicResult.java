// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

/** Where an atomic leaves the value that it found. Not thread-safe. */
public final class AtomicResult {
  private long original;

  /** The value from before the atomic. */
  public long original() {
    return original;
  }

  /** For the {@link Host}: sets the value from before the atomic. */
  public void original(long value) {
    original = value;
  }
}
