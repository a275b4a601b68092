// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import static io.verbena.core.memory.Memories.numbered;
import static io.verbena.core.memory.Memories.numbers;
import static io.verbena.core.memory.Memories.seenByHca;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ResourceLeakDetector;
import io.verbena.HcaException;
import io.verbena.MemoryLimitException;
import io.verbena.verbs.Access;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RegisteredAllocatorTest {
  private static final int MIB = 1 << 20;

  private final RecordingDomain domain = new RecordingDomain();
  private final RegisteredMemory memory = Memories.of(domain);
  private final ByteBufAllocator allocator = memory.allocator();

  @AfterEach
  void closesWithNothingLeftBehind() {
    memory.close();
    assertThat(domain.open()).isEmpty();
    assertThat(memory.registeredBytes()).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 255, 256, 257, 8192, 8256, 65_536, MIB, MIB + 1, 5_000_000})
  void allocatesWhatTheHcaReaches(int length) {
    ByteBuf buf = numbered(allocator.directBuffer(length, length));

    assertThat(seenByHca(domain, memory, buf, 0, length)).isEqualTo(ByteBufUtil.getBytes(buf));
    buf.release();
  }

  @Test
  void givesNoPeerARightToItsSlabs() {
    allocator.directBuffer(100).release();
    allocator.directBuffer(2 * MIB).release();

    assertThat(domain.open())
        .isNotEmpty()
        .allSatisfy(region -> assertThat(region.access()).containsOnly(Access.LOCAL_WRITE))
        .allSatisfy(region -> assertThat(region.rkey()).isZero());
  }

  @Test
  void registersOnceForManyBuffers() {
    List<ByteBuf> buffers = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      buffers.add(allocator.directBuffer(1024));
    }
    assertThat(domain.registrations()).isOne();
    assertThat(memory.registeredBytes()).isEqualTo(domain.openBytes());
    buffers.forEach(ByteBuf::release);
  }

  @Test
  void allBufferMethodsAnswerRegisteredBuffersButTheHeapOnes() {
    ByteBuf heap = allocator.heapBuffer(8);
    assertThat(heap.hasArray()).isTrue();
    heap.release();
    for (ByteBuf buf :
        List.of(
            allocator.buffer(),
            allocator.buffer(8),
            allocator.buffer(8, 16),
            allocator.ioBuffer(8),
            allocator.directBuffer(8))) {
      assertThat(memory.locate(buf, 0, 8, new Location())).isTrue();
      buf.release();
    }
  }

  @Test
  void reusesTheBufferThatWasReleasedLast() {
    ByteBuf first = allocator.directBuffer(1000);
    first.writeLong(1).readInt();
    first.markReaderIndex().markWriterIndex();
    first.release();

    ByteBuf second = allocator.directBuffer(900, 950);

    assertThat(second).isSameAs(first);
    assertThat(second.refCnt()).isOne();
    assertThat(second.capacity()).isEqualTo(900);
    assertThat(second.maxCapacity()).isEqualTo(950);
    assertThat(second.resetReaderIndex().resetWriterIndex().writerIndex()).isZero();
    second.release();
  }

  @Test
  void reusesLongBuffersOfALikeLength() {
    ByteBuf first = allocator.directBuffer(3 * MIB);
    first.release();
    ByteBuf second = allocator.directBuffer(3 * MIB - 5);

    assertThat(second).isSameAs(first);
    second.release();
    assertThat(domain.registrations()).isOne();
  }

  @Test
  void keepsNoMoreLongBuffersThanAQuarterOfTheCeiling() {
    try (RegisteredMemory small = Memories.of(domain, 64 * MIB)) {
      List<ByteBuf> buffers = new ArrayList<>();
      for (int i = 0; i < 7; i++) {
        buffers.add(small.allocator().directBuffer(8 * MIB));
      }
      buffers.forEach(ByteBuf::release);

      assertThat(small.registeredBytes()).isEqualTo(16 * MIB);
    }
  }

  @Test
  void refusesUseAfterRelease() {
    ByteBuf buf = allocator.directBuffer(8).writeLong(1);
    ByteBuf slice = buf.slice();
    buf.release();

    assertThatThrownBy(() -> buf.getLong(0)).isInstanceOf(IllegalReferenceCountException.class);
    assertThatThrownBy(() -> slice.getLong(0)).isInstanceOf(IllegalReferenceCountException.class);
    assertThatThrownBy(buf::release).isInstanceOf(IllegalReferenceCountException.class);
    assertThatThrownBy(() -> memory.locate(buf, 0, 8, new Location()))
        .isInstanceOf(IllegalReferenceCountException.class);
  }

  @Test
  void givesNobodyTheMemoryThatABufferGrewOutOfWhileAnotherHoldsIt() {
    ByteBuf buf = numbered(allocator.directBuffer(1000, 100_000));
    Location old = new Location();
    memory.locate(buf, 0, 1000, old);
    ByteBuf held = buf.retainedDuplicate();
    buf.capacity(50_000);

    assertThat(addressesOf(100)).doesNotContain(old.address());

    held.release();
    buf.release();
    assertThat(addressesOf(100)).contains(old.address());
  }

  /** Returns the addresses of this many new buffers of 1000 bytes. */
  private List<Long> addressesOf(int count) {
    List<ByteBuf> buffers = new ArrayList<>();
    List<Long> addresses = new ArrayList<>();
    Location at = new Location();
    for (int i = 0; i < count; i++) {
      ByteBuf buf = allocator.directBuffer(1000);
      memory.locate(buf, 0, 1000, at);
      addresses.add(at.address());
      buffers.add(buf);
    }
    buffers.forEach(ByteBuf::release);
    return addresses;
  }

  @Test
  void growsWithinItsBlockInPlace() {
    ByteBuf buf = numbered(allocator.directBuffer(100));
    Location before = new Location();
    Location after = new Location();
    memory.locate(buf, 0, 100, before);

    assertThat(buf.maxFastWritableBytes()).isEqualTo(156);
    buf.capacity(256);

    memory.locate(buf, 0, 256, after);
    assertThat(after.address()).isEqualTo(before.address());
    buf.release();
  }

  @ParameterizedTest
  @ValueSource(ints = {300, 70_000, 3 * MIB})
  void growsBeyondItsBlockWithItsBytesAndItsSlices(int length) {
    ByteBuf buf = numbered(allocator.directBuffer(200));
    ByteBuf slice = buf.slice(50, 100);
    ByteBuf retained = buf.retainedSlice(50, 100);
    buf.readerIndex(3);

    buf.capacity(length);
    buf.setByte(50, 99);

    assertThat(ByteBufUtil.getBytes(buf, 0, 50)).isEqualTo(numbers(0, 50));
    assertThat(slice.getByte(0)).isEqualTo((byte) 99);
    assertThat(retained.getByte(0)).isEqualTo((byte) 99);
    assertThat(retained.getByte(99)).isEqualTo((byte) 149);
    assertThat(seenByHca(domain, memory, retained, 1, 99)).isEqualTo(numbers(51, 99));
    assertThat(buf.readerIndex()).isEqualTo(3);
    retained.release();
    buf.release();
  }

  @Test
  void blockThatWasGrownOutOfIsFreeAgain() {
    ByteBuf buf = allocator.directBuffer(256);
    Location first = new Location();
    memory.locate(buf, 0, 256, first);

    buf.capacity(5000);
    ByteBuf next = allocator.directBuffer(256);

    Location second = new Location();
    memory.locate(next, 0, 256, second);
    assertThat(second.address()).isEqualTo(first.address());
    next.release();
    buf.release();
  }

  @Test
  void retainedSlicesCountTheirOwnReferences() {
    ByteBuf buf = numbered(allocator.directBuffer(64));
    ByteBuf one = buf.retainedSlice(0, 32);
    ByteBuf two = one.retainedSlice(8, 8);
    ByteBuf three = buf.slice(32, 32).retainedSlice(1, 2);
    buf.release();
    one.release();

    assertThat(one.refCnt()).isZero();
    assertThatThrownBy(() -> one.getByte(0)).isInstanceOf(IllegalReferenceCountException.class);
    assertThat(two.refCnt()).isOne();
    assertThat(ByteBufUtil.getBytes(two)).isEqualTo(numbers(8, 8));
    assertThat(ByteBufUtil.getBytes(three)).isEqualTo(numbers(33, 2));
    two.release();
    assertThat(buf.refCnt()).isOne();
    three.release();
    assertThat(buf.refCnt()).isZero();
  }

  @Test
  void slicesMoreOftenThanItKeepsSlices() {
    ByteBuf buf = numbered(allocator.directBuffer(1000));
    List<ByteBuf> slices = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      slices.add(buf.retainedSlice(i, 1));
    }
    buf.release();
    for (int i = 0; i < 1000; i++) {
      assertThat(slices.get(i).getByte(0)).isEqualTo((byte) i);
      slices.get(i).release();
    }
    assertThat(buf.refCnt()).isZero();
  }

  @Test
  void reusesTheSlicesOfTheFirstThreadThatSlicesABuffer() throws Exception {
    ByteBuf buf = allocator.directBuffer(256);
    ByteBuf first = buf.retainedSlice(0, 1);
    ByteBuf others = sliceOnAnotherThread(buf);
    ByteBuf second = buf.retainedSlice(2, 1);
    List.of(first, others, second, buf).forEach(ByteBuf::release);

    ByteBuf again = allocator.directBuffer(256);

    assertThat(again).isSameAs(buf);
    assertThat(again.retainedSlice(0, 1)).isSameAs(first);
    assertThat(again.retainedSlice(0, 1)).isSameAs(second);
    List.of(first, second, again).forEach(ByteBuf::release);
  }

  private static ByteBuf sliceOnAnotherThread(ByteBuf buf) throws Exception {
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      return other.submit(() -> buf.retainedSlice(1, 1)).get(30, TimeUnit.SECONDS);
    } finally {
      other.shutdownNow();
    }
  }

  @Test
  void makesNoGarbageInTheSteadyState() {
    assertThat(garbageOf(100_000, this::allocateAndRelease)).isLessThan(0.5);
  }

  @Test
  void slicesWithoutGarbageInTheSteadyState() {
    assertThat(garbageOf(20_000, this::sliceAndRelease)).isLessThan(0.5);
  }

  private void allocateAndRelease() {
    ByteBuf small = allocator.directBuffer(64, 64);
    ByteBuf eager = allocator.directBuffer(8192, 8192);
    small.release();
    eager.release();
  }

  private void sliceAndRelease() {
    ByteBuf frame = allocator.directBuffer(8192, 8192);
    for (int i = 0; i < 64; i++) {
      frame.retainedSlice(i * 64, 64).release();
    }
    frame.release();
  }

  /** Excludes the leak detector's own garbage; in production it watches one buffer in 128. */
  private static double garbageOf(int rounds, Runnable work) {
    ResourceLeakDetector.Level level = ResourceLeakDetector.getLevel();
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
    try {
      return Garbage.perRun(rounds, work);
    } finally {
      ResourceLeakDetector.setLevel(level);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 300, 1024, 9000, 100_000, 1_500_000})
  void ceilingIsATypedErrorAndLosesNothing(int length) {
    long limit = 4 * MIB;
    try (RegisteredMemory small = Memories.of(domain, limit)) {
      List<ByteBuf> held = new ArrayList<>();
      assertThatThrownBy(() -> allocateForEver(small, length, held))
          .isInstanceOf(MemoryLimitException.class)
          .hasMessageContaining("expected: together <= " + limit)
          .hasMessageContaining("RdmaOptions.maxRegisteredBytes");
      assertThat(small.registeredBytes()).isLessThanOrEqualTo(limit);
      assertThat(small.registeredBytes()).isEqualTo(domain.openBytes());
      int most = held.size();
      assertThat((long) most * length).isGreaterThanOrEqualTo(limit / 4);
      held.forEach(ByteBuf::release);
      held.clear();

      assertThatThrownBy(() -> allocateForEver(small, length, held))
          .isInstanceOf(MemoryLimitException.class);
      assertThat(held).hasSizeGreaterThanOrEqualTo(most);
      held.forEach(ByteBuf::release);
    }
  }

  private static void allocateForEver(RegisteredMemory from, int length, List<ByteBuf> held) {
    for (; ; ) {
      held.add(from.allocator().directBuffer(length, length));
    }
  }

  @Test
  void memoryOfOneLengthBecomesMemoryOfAnother() {
    try (RegisteredMemory small = Memories.of(domain, 4 * MIB)) {
      for (int length : new int[] {256, 1 << 16, 1 << 20, 3 << 20, 512, 3 << 20, 1 << 10}) {
        List<ByteBuf> held = new ArrayList<>();
        assertThatThrownBy(() -> allocateForEver(small, length, held))
            .isInstanceOf(MemoryLimitException.class);
        assertThat((long) held.size() * length)
            .as("bytes held in pieces of " + length)
            .isGreaterThan(2 * MIB);
        held.forEach(ByteBuf::release);
      }
    }
  }

  @Test
  void cutsNothingFromASlabThatWasGivenUp() {
    try (RegisteredMemory small = Memories.of(domain, 4 * MIB)) {
      small.allocator().directBuffer(64).release();
      ByteBuf all = small.allocator().directBuffer(4 * MIB);
      all.release();

      ByteBuf buf = numbered(small.allocator().directBuffer(64));

      assertThat(seenByHca(domain, small, buf, 0, 64)).isEqualTo(numbers(0, 64));
      buf.release();
    }
  }

  @Test
  void atTheCeilingALongerFreeBlockServes() {
    try (RegisteredMemory small = Memories.of(domain, 1 << 16)) {
      List<ByteBuf> held = new ArrayList<>();
      assertThatThrownBy(() -> allocateForEver(small, 512, held))
          .isInstanceOf(MemoryLimitException.class);
      held.remove(held.size() - 1).release();

      held.add(small.allocator().directBuffer(200));

      held.forEach(ByteBuf::release);
    }
  }

  @Test
  void growthAtTheCeilingLeavesTheBufferAsItWas() {
    try (RegisteredMemory small = Memories.of(domain, 1 << 16)) {
      ByteBuf buf = numbered(small.allocator().directBuffer(200));

      assertThatThrownBy(() -> buf.capacity(1 << 16)).isInstanceOf(MemoryLimitException.class);

      assertThat(ByteBufUtil.getBytes(buf)).isEqualTo(numbers(0, 200));
      assertThat(buf.capacity()).isEqualTo(200);
      buf.release();
    }
  }

  @Test
  void refusalOfTheHcaIsATypedErrorAndCostsNothing() {
    domain.accept(0);

    assertThatThrownBy(() -> allocator.directBuffer(64))
        .isInstanceOf(MemoryLimitException.class)
        .hasMessageContaining("allocate")
        .hasCauseInstanceOf(HcaException.class);
    assertThatThrownBy(() -> allocator.directBuffer(2 * MIB))
        .isInstanceOf(MemoryLimitException.class);
    assertThat(memory.registeredBytes()).isZero();

    domain.accept(1);
    await()
        .ignoreExceptionsInstanceOf(MemoryLimitException.class)
        .until(() -> allocator.directBuffer(64).release());
  }

  @Test
  void buffersOutliveTheirRegistrationUnharmed() {
    ByteBuf buf = numbered(allocator.directBuffer(64));
    ByteBuf large = numbered(allocator.directBuffer(2 * MIB));
    memory.close();
    memory.close();

    assertThat(ByteBufUtil.getBytes(buf)).isEqualTo(numbers(0, 64));
    assertThat(large.getByte(77)).isEqualTo((byte) 77);
    buf.release();
    large.release();
    assertThat(memory.registeredBytes()).isZero();
    assertThatThrownBy(() -> allocator.directBuffer(64))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    assertThatThrownBy(() -> allocator.directBuffer(2 * MIB))
        .isInstanceOf(IllegalStateException.class);
  }

  /** Each buffer carries its number in its first and last bytes from thread to thread. */
  @Test
  void buffersThatAreReleasedElsewhereAreNeverInTwoHands() throws Exception {
    int perThread = 60_000;
    BlockingQueue<ByteBuf> between = new ArrayBlockingQueue<>(256);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Callable<Integer>> tasks = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        int first = i * perThread;
        tasks.add(() -> fill(between, first, perThread));
        tasks.add(() -> check(between, perThread));
      }
      int wrong = 0;
      for (Future<Integer> result : threads.invokeAll(tasks, 90, TimeUnit.SECONDS)) {
        wrong += result.get();
      }
      assertThat(wrong).isZero();
    } finally {
      threads.shutdownNow();
    }
    assertThat(memory.registeredBytes()).isLessThanOrEqualTo(32L * MIB);
  }

  private int fill(BlockingQueue<ByteBuf> to, int first, int count) throws Exception {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    for (int number = first; number < first + count; number++) {
      int length = 16 << random.nextInt(9);
      ByteBuf buf = allocator.directBuffer(length);
      buf.setInt(0, number).setInt(length - 4, number).writerIndex(length);
      ByteBuf sent = buf;
      if ((number & 1) == 0) {
        sent = buf.retainedSlice();
        buf.release();
      }
      if (!to.offer(sent, 30, TimeUnit.SECONDS)) {
        throw new AssertionError("nobody takes number " + number);
      }
    }
    return 0;
  }

  private static int check(BlockingQueue<ByteBuf> from, int count) throws Exception {
    int wrong = 0;
    for (int i = 0; i < count; i++) {
      ByteBuf buf = from.poll(30, TimeUnit.SECONDS);
      if (buf == null) {
        throw new AssertionError("only " + i + " of " + count + " came");
      }
      int number = buf.getInt(0);
      Thread.onSpinWait();
      wrong += buf.getInt(buf.capacity() - 4) == number && buf.refCnt() == 1 ? 0 : 1;
      buf.setZero(0, buf.capacity());
      buf.release();
    }
    return wrong;
  }
}
