// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

/** A block of {@link io.verbena.disni.core.Words}. */
record WordBlock(long address) {
  /** Java and C agree on the order of the names. */
  @SuppressWarnings("EnumOrdinal")
  private long at(Enum<?> slot) {
    return address + (long) slot.ordinal() * Long.BYTES;
  }

  long get(Enum<?> slot) {
    return Memory.getLong(at(slot));
  }

  void set(Enum<?> slot, long value) {
    Memory.putLong(at(slot), value);
  }
}
