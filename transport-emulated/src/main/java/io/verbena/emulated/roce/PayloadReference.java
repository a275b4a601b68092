// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Says where the payload of a packet is that does not carry it: in memory of its sender, which the
 * receiver has mapped. The sender may withdraw the reference: what the receiver copied is worth
 * nothing then, unless it has {@linkplain #confirm confirmed} before.
 *
 * <p>The sender gives the number of a slab, and the rest to know what to withdraw; the receiver's
 * wire finds the memory. Mutable, and reused; for one thread at a time.
 */
public final class PayloadReference {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private int slab;
  private int offset;
  private int key;
  private int queuePair;
  private ByteBuffer memory = NOTHING;
  private @Nullable Confirmation confirmation;

  /** Tells the sender that the payload was copied. */
  public interface Confirmation {
    /** Returns whether the payload was still what the sender referred to. */
    boolean confirm();
  }

  /**
   * Sets the place.
   *
   * @param inSlab the number that the sender's HCA gave a piece of memory
   * @param at the index of the first byte in it
   * @param byKey the key by which the sender's program may use it
   */
  public void place(int inSlab, int at, int byKey) {
    slab = inSlab;
    offset = at;
    key = byKey;
    queuePair = 0;
  }

  /** Sets the queue pair whose request it belongs to; none for an answer. */
  public void queuePair(int number) {
    queuePair = number;
  }

  /** Sets what the receiver found: the slab, and who is to be told when the payload was copied. */
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

  /** Returns the memory that the receiver found. */
  public ByteBuffer memory() {
    return memory;
  }

  /** Returns whether what was copied of it until now is what the sender referred to. */
  public boolean confirm() {
    Confirmation told = confirmation;
    return told == null || told.confirm();
  }

  void copyFrom(PayloadReference other) {
    slab = other.slab;
    offset = other.offset;
    key = other.key;
    queuePair = other.queuePair;
  }

  /** Lets the memory go. */
  public void clear() {
    memory = NOTHING;
    confirmation = null;
  }
}
