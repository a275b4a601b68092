// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

/** Holds the value that an atomic found. Not thread-safe. */
public final class AtomicResult {
  private long original;

  /** Returns the value before the atomic. */
  public long original() {
    return original;
  }

  /** Sets the value before the atomic; called by the {@link EngineHost}. */
  public void original(long value) {
    original = value;
  }
}
