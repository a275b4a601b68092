// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The payload of an atomic request (RFC 7306, section 5.2.1). Reusable.
 *
 * <pre>
 *  reserved 28 bits | operation 4 bits | identifier 4 | STag 4 | TO 8
 *  add or swap data 8 | add or swap mask 8 | compare data 8 | compare mask 8
 * </pre>
 */
public final class AtomicRequest {
  /** The mask of all bits. */
  private static final long ALL = -1;

  /** The mask of an add to one field of 64 bits: no bit ends a smaller field. */
  private static final long ONE_FIELD = 0;

  private static final int OPERATION_MASK = 0x0f;

  private @Nullable AtomicOperation operation;
  private int operationCode;
  private int identifier;
  private int tag;
  private long offset;
  private long data;
  private long mask;
  private long compare;
  private long compareMask;

  /** Reads the payload, of {@link FpduLayout#ATOMIC_REQUEST_LENGTH} bytes. */
  public void parse(ByteBuffer bytes, int at) {
    operationCode = bytes.getInt(at + FpduLayout.ATOMIC_OPERATION_OFFSET) & OPERATION_MASK;
    operation = AtomicOperation.of(operationCode);
    identifier = bytes.getInt(at + FpduLayout.ATOMIC_IDENTIFIER_OFFSET);
    tag = bytes.getInt(at + FpduLayout.ATOMIC_TAG_OFFSET);
    offset = bytes.getLong(at + FpduLayout.ATOMIC_OFFSET_OFFSET);
    data = bytes.getLong(at + FpduLayout.ATOMIC_DATA_OFFSET);
    mask = bytes.getLong(at + FpduLayout.ATOMIC_MASK_OFFSET);
    compare = bytes.getLong(at + FpduLayout.ATOMIC_COMPARE_OFFSET);
    compareMask = bytes.getLong(at + FpduLayout.ATOMIC_COMPARE_MASK_OFFSET);
  }

  /** Makes this a request to add to 64 bits. */
  public AtomicRequest fetchAndAdd(int number, int to, long at, long addend) {
    of(AtomicOperation.FETCH_ADD, number, to, at);
    data = addend;
    mask = ONE_FIELD;
    compare = 0;
    compareMask = 0;
    return this;
  }

  /** Makes this a request to compare and swap 64 bits. */
  public AtomicRequest compareAndSwap(int number, int to, long at, long expected, long swap) {
    of(AtomicOperation.COMPARE_SWAP, number, to, at);
    data = swap;
    mask = ALL;
    compare = expected;
    compareMask = ALL;
    return this;
  }

  private void of(AtomicOperation what, int number, int to, long at) {
    operation = what;
    operationCode = what.code;
    identifier = number;
    tag = to;
    offset = at;
  }

  /** Appends the payload. */
  public void write(ByteBuffer to) {
    to.putInt(operationCode)
        .putInt(identifier)
        .putInt(tag)
        .putLong(offset)
        .putLong(data)
        .putLong(mask)
        .putLong(compare)
        .putLong(compareMask);
  }

  /** Makes this a copy of another. */
  public void copyFrom(AtomicRequest other) {
    operation = other.operation;
    operationCode = other.operationCode;
    identifier = other.identifier;
    tag = other.tag;
    offset = other.offset;
    data = other.data;
    mask = other.mask;
    compare = other.compare;
    compareMask = other.compareMask;
  }

  /** Returns the operation, or null if its code is unknown. */
  public @Nullable AtomicOperation operation() {
    return operation;
  }

  /** Returns the identifier that its response names. */
  public int identifier() {
    return identifier;
  }

  /** Returns the tag of the memory to change. */
  public int tag() {
    return tag;
  }

  public long offset() {
    return offset;
  }

  /** Returns the value to add, or to swap in. */
  public long data() {
    return data;
  }

  /** Returns the value that a compare-and-swap compares with. */
  public long compare() {
    return compare;
  }

  /**
   * Returns whether the operation is on one field of all 64 bits, so that its masks have no effect.
   */
  public boolean isPlain() {
    return operation == AtomicOperation.FETCH_ADD
        ? (mask & Long.MAX_VALUE) == ONE_FIELD
        : mask == ALL && compareMask == ALL;
  }

  /**
   * Returns the value that the operation leaves in memory. A set bit in the mask of an add is the
   * highest of a field, out of which nothing is carried (RFC 7306, section 5.1.1). The masks of a
   * compare-and-swap select the bits that are compared and those that are swapped (section 5.1.2).
   *
   * @param original the value that the operation finds in memory
   */
  public long after(long original) {
    if (operation == AtomicOperation.FETCH_ADD) {
      return ((original & ~mask) + (data & ~mask)) ^ ((original ^ data) & mask);
    }
    return ((original ^ compare) & compareMask) == 0
        ? (original & ~mask) | (data & mask)
        : original;
  }
}
