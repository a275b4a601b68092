// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import static io.verbena.core.memory.Memories.bytes;
import static io.verbena.core.memory.Memories.numbered;
import static io.verbena.core.memory.Memories.numbers;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.HcaException;
import io.verbena.MemoryLimitException;
import io.verbena.verbs.Access;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ExposureTest {
  private static final long LIMIT = 1 << 16;

  private final RecordingDomain domain = new RecordingDomain();
  private final RegisteredMemory memory = Memories.of(domain, LIMIT);
  private final ByteBuf ours = numbered(memory.allocator().directBuffer(1000));
  private final ByteBuf foreign = numbered(Unpooled.directBuffer(1 << 17));

  @AfterEach
  void releasesEverything() {
    ours.release();
    foreign.release();
    memory.close();
    assertThat(domain.open()).isEmpty();
    assertThat(memory.registeredBytes()).isZero();
  }

  @Test
  void exposesExactlyTheBytesAndOnlyForReading() {
    for (ByteBuf buf : new ByteBuf[] {ours, foreign, ours.slice(0, 500), foreign.slice(0, 500)}) {
      try (Exposure exposure = memory.expose(buf, 100, 50)) {
        assertThat(bytes(domain.readByPeer(exposure.rkey(), exposure.address(), 50)))
            .isEqualTo(numbers(100, 50));
        assertThat(domain.open())
            .filteredOn(region -> region.rkey() == exposure.rkey())
            .singleElement()
            .satisfies(region -> assertThat(region.length()).isEqualTo(50))
            .satisfies(region -> assertThat(region.access()).containsOnly(Access.REMOTE_READ));
      }
    }
  }

  @Test
  void peerCannotReadAfterItIsClosed() {
    Exposure exposure = memory.expose(ours, 0, 100);
    int rkey = exposure.rkey();
    long address = exposure.address();
    exposure.close();
    exposure.close();

    assertThatThrownBy(() -> domain.readByPeer(rkey, address, 1))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("expected: one to read by");
  }

  @Test
  void countsForeignBytesOnly() {
    long before = memory.registeredBytes();
    try (Exposure exposure = memory.expose(ours, 0, 1000)) {
      assertThat(exposure.rkey()).isNotZero();
      assertThat(memory.registeredBytes()).isEqualTo(before);
    }
    try (Exposure exposure = memory.expose(foreign, 0, 1000)) {
      assertThat(exposure.rkey()).isNotZero();
      assertThat(memory.registeredBytes()).isEqualTo(before + 1000);
    }
    assertThat(memory.registeredBytes()).isEqualTo(before);
  }

  @Test
  void failsAtTheCeilingWithNothingLost() {
    long before = memory.registeredBytes();

    assertThatThrownBy(() -> memory.expose(foreign, 0, 1 << 17))
        .isInstanceOf(MemoryLimitException.class)
        .hasMessageContaining("expose: bytes: 131072");

    assertThat(memory.registeredBytes()).isEqualTo(before);
    memory.expose(foreign, 0, 1 << 10).close();
  }

  @Test
  void refusalOfTheHcaCostsNothing() {
    long before = memory.registeredBytes();
    domain.accept(0);

    assertThatThrownBy(() -> memory.expose(foreign, 0, 10)).isInstanceOf(HcaException.class);

    assertThat(memory.registeredBytes()).isEqualTo(before);
  }

  @Test
  void aBufferThatThrowsCostsNothing() {
    long before = memory.registeredBytes();
    ByteBuf hostile = Memories.withoutNioBuffers(100);

    assertThatThrownBy(() -> memory.expose(hostile, 0, 100))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(Memories.NO_NIO_BUFFER);

    assertThat(memory.registeredBytes()).isEqualTo(before);
    hostile.release();
  }

  @Test
  void exposesReadOnlyMemory() {
    try (Exposure exposure = memory.expose(foreign.asReadOnly(), 5, 10)) {
      assertThat(bytes(domain.readByPeer(exposure.rkey(), exposure.address(), 10)))
          .isEqualTo(numbers(5, 10));
    }
  }

  @Test
  void rejectsWhatNoPeerCouldRead() {
    ByteBuf heap = Unpooled.buffer(10).writeZero(10);
    ByteBuf several =
        Unpooled.wrappedBuffer(foreign.retainedSlice(0, 5), foreign.retainedSlice(9, 5));

    assertThatThrownBy(() -> memory.expose(heap, 0, 10))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected: >= 1, direct, in one piece");
    assertThatThrownBy(() -> memory.expose(several, 0, 10))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> memory.expose(ours, 0, 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> memory.expose(ours, 990, 11))
        .isInstanceOf(IndexOutOfBoundsException.class);
    heap.release();
    several.release();
  }

  @Test
  void closingTheMemoryClosesIt() {
    Exposure exposure = memory.expose(foreign, 0, 100);
    memory.close();

    assertThat(domain.open()).isEmpty();
    exposure.close();
    assertThat(memory.registeredBytes()).isZero();
  }
}
