// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import org.jspecify.annotations.Nullable;

/** A span of native memory, as a key of a map. Must not change while it is in a map. */
final class Span {
  private long address;
  private int length;

  Span set(long newAddress, int newLength) {
    address = newAddress;
    length = newLength;
    return this;
  }

  long address() {
    return address;
  }

  boolean contains(long other, int otherLength) {
    return other >= address && other + otherLength <= address + length;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Span span && span.address == address && span.length == length;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(address * 0x9E3779B97F4A7C15L) ^ length;
  }
}
