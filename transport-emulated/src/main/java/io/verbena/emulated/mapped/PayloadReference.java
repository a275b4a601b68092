// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.mapped;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The place of a packet's payload in the memory of its sender, which the receiver has mapped. The
 * sender may withdraw the reference at any time; so bytes that the receiver has copied are valid
 * only if {@link #confirm} returns true after the copy.
 *
 * <p>The sender sets the slab and the offset, and also the key and queue pair, by which it can
 * withdraw the reference. The receiver's wire sets the memory. Mutable and reused; not thread-safe.
 */
public final class PayloadReference {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private int slab;
  private int offset;
  private int key;
  private int queuePair;
  private ByteBuffer memory = NOTHING;
  private @Nullable Confirmation confirmation;

  /** Confirms to the sender that the payload was copied. */
  public interface Confirmation {
    /**
     * Returns whether the reference was still valid, so that the copied payload is what the sender
     * sent.
     */
    boolean confirm();
  }

  /**
   * Sets the sender's fields; clears the queue pair.
   *
   * @param inSlab the number of a slab of the sender's HCA
   * @param at the index of the first byte in the slab
   * @param byKey the key of the memory, whose invalidation withdraws the reference
   */
  public void place(int inSlab, int at, int byKey) {
    slab = inSlab;
    offset = at;
    key = byKey;
    queuePair = 0;
  }

  /** Sets the queue pair whose request the payload belongs to; not set for an answer. */
  public void queuePair(int number) {
    queuePair = number;
  }

  /**
   * Sets the receiver's fields: the memory that it has mapped, and the confirmation to call after
   * the copy.
   */
  public void found(ByteBuffer inMemory, int at, Confirmation toConfirm) {
    memory = inMemory;
    offset = at;
    confirmation = toConfirm;
  }

  public int slab() {
    return slab;
  }

  public int offset() {
    return offset;
  }

  public int key() {
    return key;
  }

  public int queuePair() {
    return queuePair;
  }

  /** Returns the memory that the receiver has mapped. */
  public ByteBuffer memory() {
    return memory;
  }

  /**
   * Returns whether the bytes that were copied until now are those that the sender referred to;
   * true if there is no confirmation.
   */
  public boolean confirm() {
    Confirmation current = confirmation;
    return current == null || current.confirm();
  }

  /** Makes this refer to the same bytes as another reference. */
  public void copyFrom(PayloadReference other) {
    slab = other.slab;
    offset = other.offset;
    key = other.key;
    queuePair = other.queuePair;
  }

  /** Drops the memory and the confirmation. */
  public void clear() {
    memory = NOTHING;
    confirmation = null;
  }
}
