// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.Capability;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A region of registered memory, or a part of one, filled with checkable patterns. */
final class TestMemory {
  private static final int ALIGNMENT = 64;

  private static final Duration LATE = Duration.ofSeconds(10);

  private final MemoryRegion region;
  private final ByteBuffer bytes;
  private final long address;

  /**
   * The key of the window through which peers access the memory, or null for the key of the region.
   */
  private final @Nullable Integer windowKey;

  /** Whether a WRITE may complete before its bytes have arrived here. */
  private final boolean writtenLate;

  private TestMemory(
      MemoryRegion region, ByteBuffer bytes, long address, @Nullable Integer windowKey) {
    writtenLate =
        !region.protectionDomain().device().attributes().supports(Capability.REQUEST_STATUS);
    this.region = region;
    this.bytes = bytes.order(ByteOrder.nativeOrder());
    this.address = address;
    this.windowKey = windowKey;
  }

  /** Allocates zeroed memory that starts at a cache line. */
  static ByteBuffer allocate(int length) {
    return aligned(ByteBuffer.allocateDirect(roomFor(length)), length);
  }

  private static int roomFor(int length) {
    return (Math.addExact(length, ALIGNMENT - 1) & -ALIGNMENT) + ALIGNMENT;
  }

  private static ByteBuffer aligned(ByteBuffer memory, int length) {
    return memory.alignedSlice(ALIGNMENT).slice(0, length);
  }

  static TestMemory register(ProtectionDomain domain, int length, Set<Access> access) {
    ByteBuffer bytes = aligned(domain.device().allocateMemory(roomFor(length)), length);
    return of(domain.register(bytes, access), bytes);
  }

  /** Returns the memory of a region that is registered already. */
  static TestMemory of(MemoryRegion region, ByteBuffer bytes) {
    return new TestMemory(region, bytes, region.address(), null);
  }

  /** Returns a part of the memory, in the same region. */
  TestMemory part(int offset, int length) {
    return new TestMemory(region, bytes.slice(offset, length), address + offset, windowKey);
  }

  /** Returns the same memory with the rkey of a window. */
  TestMemory throughWindow(int key) {
    return new TestMemory(region, bytes, address, key);
  }

  MemoryRegion region() {
    return region;
  }

  long address() {
    return address;
  }

  int length() {
    return bytes.capacity();
  }

  int lkey() {
    return region.lkey();
  }

  int rkey() {
    return windowKey == null ? region.rkey() : windowKey;
  }

  /** Fills the memory with a pattern that depends on the seed and the position. */
  TestMemory fill(int seed) {
    return fill(seed, 0);
  }

  /** Fills the memory with the pattern from position {@code skipped} on. */
  TestMemory fill(int seed, int skipped) {
    for (int i = 0; i < length(); i++) {
      bytes.put(i, pattern(seed, skipped + i));
    }
    return this;
  }

  /** Asserts that the memory holds the pattern of {@link #fill}. */
  void assertHolds(int seed) {
    assertHolds(seed, 0);
  }

  /**
   * Asserts that the memory holds the pattern from position {@code skipped} on; without {@link
   * Capability#REQUEST_STATUS}, waits for it.
   */
  void assertHolds(int seed, int skipped) {
    ByteBuffer expected = ByteBuffer.allocate(length());
    for (int i = 0; i < length(); i++) {
      expected.put(i, pattern(seed, skipped + i));
    }
    awaitHolds(expected);
    int mismatch = expected.mismatch(bytes.duplicate().clear());
    assertThat(mismatch)
        .as("the first of %d bytes that differs from pattern %d", length(), seed)
        .isEqualTo(-1);
  }

  /**
   * Waits until the memory holds {@code expected}, if a WRITE may complete before its bytes have
   * arrived here.
   */
  void awaitHolds(ByteBuffer expected) {
    Deadline deadline = Deadline.in(LATE);
    while (writtenLate
        && !deadline.isOver()
        && !expected.duplicate().clear().equals(bytes.duplicate().clear())) {
      deadline.pause();
    }
  }

  /** Asserts that the memory was not written since its allocation. */
  void assertUntouched() {
    int mismatch = ByteBuffer.allocate(length()).mismatch(bytes.duplicate().clear());
    assertThat(mismatch).as("the first of %d bytes that is not 0", length()).isEqualTo(-1);
  }

  /** Returns the long at {@code offset}, in native byte order. */
  long getLong(int offset) {
    return bytes.getLong(offset);
  }

  TestMemory putLong(int offset, long value) {
    bytes.putLong(offset, value);
    return this;
  }

  /** Returns a copy of the current contents. */
  ByteBuffer copy() {
    return ByteBuffer.allocate(length()).put(0, bytes, 0, length());
  }

  byte getByte(int offset) {
    return bytes.get(offset);
  }

  int getInt(int offset) {
    return bytes.getInt(offset);
  }

  TestMemory putInt(int offset, int value) {
    bytes.putInt(offset, value);
    return this;
  }

  static byte pattern(int seed, int index) {
    return (byte) (1 + seed * 37 + index * 7 + (index >> 8) * 3 + (index >> 16) * 11);
  }
}
