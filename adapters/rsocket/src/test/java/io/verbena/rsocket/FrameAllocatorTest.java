// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.MemoryLimitException;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class FrameAllocatorTest {
  /** An allocator whose direct buffers come from a supplier, which may fail. */
  private static final class Exhausted extends AbstractByteBufAllocator {
    private final Supplier<? extends ByteBuf> direct;

    Exhausted(Supplier<? extends ByteBuf> direct) {
      super(true);
      this.direct = direct;
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
      return direct.get();
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
      return Unpooled.buffer(initialCapacity, maxCapacity);
    }

    @Override
    public boolean isDirectBufferPooled() {
      return false;
    }
  }

  @Test
  void allocatesOnTheHeapWhereThereIsNoDirectMemory() {
    var allocator =
        new FrameAllocator(
            new Exhausted(
                () -> {
                  throw new MemoryLimitException("allocate", null, "no direct memory");
                }),
            new Exhausted(
                () -> {
                  throw new OutOfMemoryError("no direct memory");
                }));

    ByteBuf buffer = allocator.buffer(14);

    assertThat(buffer.hasArray()).isTrue();
    assertThat(buffer.capacity()).isEqualTo(14);
    buffer.release();
  }
}
