// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * The rights that a memory region, a memory window or a queue pair may give. Local read is always
 * allowed. Remote write and remote atomic need local write.
 */
public enum Access {
  /** The local HCA may write: receives, READ and atomic results land here. */
  LOCAL_WRITE(1),
  /** Peers may WRITE. */
  REMOTE_WRITE(1 << 1),
  /** Peers may READ. */
  REMOTE_READ(1 << 2),
  /** Peers may compare-and-swap and fetch-and-add. */
  REMOTE_ATOMIC(1 << 3),
  /** Memory windows may be bound to the region. */
  MW_BIND(1 << 4);

  private final int bit;

  Access(int bit) {
    this.bit = bit;
  }

  /** Returns the bit of this right in {@code enum ibv_access_flags}. */
  public int bit() {
    return bit;
  }

  /** Returns the combined bits of these rights. */
  public static int bits(Iterable<Access> rights) {
    int bits = 0;
    for (Access right : rights) {
      bits |= right.bit;
    }
    return bits;
  }
}
