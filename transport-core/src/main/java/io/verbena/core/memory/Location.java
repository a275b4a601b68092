// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

/**
 * Address and lkey of bytes: what a scatter/gather entry needs besides the length. Mutable, so that
 * its owner can reuse it; not thread-safe.
 */
public final class Location {
  private long address;
  private int lkey;

  /** The address of the first byte, as {@link RegisteredMemory#locate} found it last. */
  public long address() {
    return address;
  }

  /** The key of the region that the bytes lie in. */
  public int lkey() {
    return lkey;
  }

  void set(long newAddress, int newLkey) {
    address = newAddress;
    lkey = newLkey;
  }
}
