package io.verbena.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Registered memory, whole or a part of it, with contents that are easy to check. */
final class TestMemory {
  private static final int ALIGNMENT = 64;

  private final MemoryRegion region;
  private final ByteBuffer bytes;
  private final long address;

  /** The key of a window through which peers see it, or null for the region's own. */
  private final @Nullable Integer windowKey;

  private TestMemory(MemoryRegion region, ByteBuffer bytes, long address, @Nullable Integer windowKey) {
    this.region = region;
    this.bytes = bytes.order(ByteOrder.nativeOrder());
    this.address = address;
    this.windowKey = windowKey;
  }

  /** Memory of this length, all zero, that starts at a cache line. */
  static ByteBuffer allocate(int length) {
    int rounded = Math.addExact(length, ALIGNMENT - 1) & -ALIGNMENT;
    return ByteBuffer.allocateDirect(rounded + ALIGNMENT).alignedSlice(ALIGNMENT).slice(0, length);
  }

  static TestMemory register(ProtectionDomain domain, int length, Set<Access> access) {
    ByteBuffer bytes = allocate(length);
    MemoryRegion region = domain.register(bytes, access);
    return new TestMemory(region, bytes, region.address(), null);
  }

  /** These bytes of it, in the same region. */
  TestMemory part(int offset, int length) {
    return new TestMemory(region, bytes.slice(offset, length), address + offset, windowKey);
  }

  /** The same memory, as peers see it under the key of a window. */
  TestMemory under(int key) {
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

  /** Fills it with bytes that differ from those of another seed, and from one place to the next. */
  TestMemory fill(int seed) {
    return fill(seed, 0);
  }

  /** Fills it as that part of a larger memory which begins at {@code skipped}. */
  TestMemory fill(int seed, int skipped) {
    for (int i = 0; i < length(); i++) {
      bytes.put(i, pattern(seed, skipped + i));
    }
    return this;
  }

  /** Asserts that it holds what {@link #fill} put there. */
  void assertHolds(int seed) {
    assertHolds(seed, 0);
  }

  /** Asserts that it holds what {@link #fill} put into a memory from {@code skipped} on. */
  void assertHolds(int seed, int skipped) {
    ByteBuffer expected = ByteBuffer.allocate(length());
    for (int i = 0; i < length(); i++) {
      expected.put(i, pattern(seed, skipped + i));
    }
    int mismatch = expected.mismatch(bytes.duplicate().clear());
    assertThat(mismatch)
        .as("the first of %d bytes that differs from pattern %d", length(), seed)
        .isEqualTo(-1);
  }

  /** Asserts that nothing was written to it since it was allocated. */
  void assertUntouched() {
    int mismatch = ByteBuffer.allocate(length()).mismatch(bytes.duplicate().clear());
    assertThat(mismatch).as("the first of %d bytes that is not 0", length()).isEqualTo(-1);
  }

  /** The eight bytes at {@code offset}, in this machine's order. */
  long getLong(int offset) {
    return bytes.getLong(offset);
  }

  TestMemory putLong(int offset, long value) {
    bytes.putLong(offset, value);
    return this;
  }

  /** Its bytes as they are now. */
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
