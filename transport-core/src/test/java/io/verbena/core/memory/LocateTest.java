// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import static io.verbena.core.memory.Memories.numbered;
import static io.verbena.core.memory.Memories.numbers;
import static io.verbena.core.memory.Memories.seenByHca;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.SlicedByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class LocateTest {
  private final RecordingDomain domain = new RecordingDomain();
  private final RegisteredMemory memory = Memories.of(domain);
  private final ByteBuf buf = numbered(memory.allocator().directBuffer(200));

  @AfterEach
  void releasesEverything() {
    buf.release();
    assertThat(buf.refCnt()).isZero();
    memory.close();
  }

  /** Returns derived buffers, each with the number in its first byte. */
  @SuppressWarnings("deprecation")
  static List<Arguments> derivations() {
    return List.of(
        derivation("itself", 0, b -> b),
        derivation("slice", 10, b -> b.slice(10, 100)),
        derivation("slice of a slice", 15, b -> b.slice(10, 100).slice(5, 50)),
        derivation("duplicate", 0, ByteBuf::duplicate),
        derivation("slice of a duplicate", 10, b -> b.duplicate().slice(10, 100)),
        derivation("duplicate of a slice", 10, b -> b.slice(10, 100).duplicate()),
        derivation("read-only", 0, ByteBuf::asReadOnly),
        derivation("slice of a read-only one", 10, b -> b.asReadOnly().slice(10, 100)),
        derivation("read-only slice", 10, b -> b.slice(10, 100).asReadOnly()),
        derivation("unreleasable", 0, Unpooled::unreleasableBuffer),
        derivation("slice of an unreleasable", 9, b -> Unpooled.unreleasableBuffer(b).slice(9, 99)),
        derivation("swapped", 0, b -> b.order(ByteOrder.LITTLE_ENDIAN)),
        derivation("swapped slice", 7, b -> b.order(ByteOrder.LITTLE_ENDIAN).slice(7, 99)));
  }

  /** Returns derived buffers that hold a reference of their own. */
  static List<Arguments> retained() {
    return List.of(
        derivation("retained slice", 10, b -> b.retainedSlice(10, 100)),
        derivation("retained duplicate", 0, ByteBuf::retainedDuplicate),
        derivation("slice of a view", 14, b -> b.slice(10, 100).retainedSlice(4, 40)),
        derivation("slice of a duplicate", 12, b -> b.duplicate().retainedSlice(12, 100)),
        derivation("read slice", 0, b -> b.readRetainedSlice(70)),
        derivation("of a read-only", 11, b -> b.asReadOnly().retainedSlice(11, 60)));
  }

  private static Arguments derivation(String name, int first, UnaryOperator<ByteBuf> derive) {
    return Arguments.of(name, first, derive);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("derivations")
  void findsTheBytesThrough(String name, int first, UnaryOperator<ByteBuf> derive) {
    ByteBuf derived = derive.apply(buf);

    assertThat(seenByHca(domain, memory, derived, 3, 20)).isEqualTo(numbers(first + 3, 20));
    ByteBuf further = derived.slice(2, 30);
    assertThat(seenByHca(domain, memory, further, 1, 9)).isEqualTo(numbers(first + 3, 9));
    assertThat(buf.refCnt()).isOne();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("retained")
  void findsTheBytesOfA(String name, int first, UnaryOperator<ByteBuf> derive) {
    ByteBuf derived = derive.apply(buf);

    assertThat(buf.refCnt()).isEqualTo(2);
    assertThat(seenByHca(domain, memory, derived, 3, 20)).isEqualTo(numbers(first + 3, 20));
    ByteBuf further = derived.retainedSlice(2, 30);
    derived.release();
    assertThat(seenByHca(domain, memory, further, 1, 9)).isEqualTo(numbers(first + 3, 9));
    further.release();
    assertThat(buf.refCnt()).isOne();
  }

  @Test
  void findsTheBytesThroughNettysLeakDetector() {
    ByteBuf watched = Watching.watch(numbered(memory.allocator().directBuffer(200)));

    assertThat(watched.getClass().getSimpleName()).contains("LeakAware");
    assertThat(seenByHca(domain, memory, watched, 3, 20)).isEqualTo(numbers(3, 20));
    assertThat(seenByHca(domain, memory, watched.slice(8, 80), 3, 20)).isEqualTo(numbers(11, 20));
    watched.release();
  }

  @Test
  void findsBytesInOneComponentOfACompositeBuffer() {
    ByteBuf foreign = Unpooled.directBuffer(10).writeZero(10);
    CompositeByteBuf composite =
        memory
            .allocator()
            .compositeBuffer()
            .addComponent(true, foreign)
            .addComponent(true, buf.retainedSlice(50, 20));

    assertThat(seenByHca(domain, memory, composite, 12, 6)).isEqualTo(numbers(52, 6));
    assertThat(memory.locate(composite, 9, 2, new Location())).isFalse();
    assertThat(memory.locate(composite, 0, 5, new Location())).isFalse();
    composite.release();
  }

  @Test
  void doesNotFindForeignBuffers() {
    try (RegisteredMemory other = Memories.of(domain)) {
      List<ByteBuf> foreign =
          List.of(
              Unpooled.buffer(64).writeZero(64),
              Unpooled.directBuffer(64).writeZero(64),
              PooledByteBufAllocator.DEFAULT.directBuffer(64).writeZero(64),
              other.allocator().directBuffer(64).writeZero(64));
      for (ByteBuf each : foreign) {
        assertThat(memory.locate(each, 0, 64, new Location())).isFalse();
        assertThat(memory.locate(each.slice(1, 5), 0, 5, new Location())).isFalse();
        each.release();
      }
    }
  }

  /** Such a slice does not reveal its offset, so its bytes must be copied. */
  @Test
  @SuppressWarnings("deprecation")
  void doesNotGuessWhereAnotherKindOfSliceBegins() {
    assertThat(memory.locate(new SlicedByteBuf(buf, 10, 100), 0, 10, new Location())).isFalse();
  }

  @Test
  void rejectsARangeBeyondTheBuffer() {
    for (int[] range : new int[][] {{-1, 1}, {0, 201}, {200, 1}, {1, -1}, {Integer.MAX_VALUE, 2}}) {
      assertThatThrownBy(() -> memory.locate(buf, range[0], range[1], new Location()))
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessageContaining("within 200");
    }
    assertThat(memory.locate(buf, 200, 0, new Location())).isTrue();
  }

  @Test
  void allocatesNothing() {
    Location location = new Location();
    ByteBuf slice = buf.slice(3, 100).duplicate();

    assertThat(Garbage.perRun(100_000, () -> locateOnce(slice, location))).isLessThan(0.5);
  }

  private void locateOnce(ByteBuf slice, Location location) {
    if (!memory.locate(slice, 7, 10, location)) {
      throw new AssertionError("not located");
    }
  }

  /** Netty's wrapper for buffers that the leak detector watches. */
  private static final class Watching extends AbstractByteBufAllocator {
    static ByteBuf watch(ByteBuf buf) {
      return toLeakAwareBuffer(buf);
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
      throw new UnsupportedOperationException();
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean isDirectBufferPooled() {
      return false;
    }
  }
}
