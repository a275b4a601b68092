// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import static io.verbena.core.memory.Memories.bytes;
import static io.verbena.core.memory.Memories.numbered;
import static io.verbena.core.memory.Memories.numbers;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledUnsafeDirectByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.verbena.HcaException;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaOptions;
import io.verbena.verbs.Access;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RegistrationCacheTest {
  /** Without Netty's leak detector, which allocates and takes time at each access. */
  private static final ByteBufAllocator UNWATCHED = new UnpooledByteBufAllocator(true, true);

  private static final int CACHED = 4;
  private static final long LIMIT = 1 << 20;
  private static final int LENGTH = 1 << 16;

  private final RecordingDomain domain = new RecordingDomain();
  private final RegisteredMemory memory =
      new RegisteredMemory(
          domain,
          RdmaOptions.builder().maxCachedRegistrations(CACHED).maxRegisteredBytes(LIMIT).build());
  private final List<ByteBuf> buffers = new ArrayList<>();

  @BeforeEach
  void makesForeignBuffers() {
    for (int i = 0; i < CACHED + 2; i++) {
      buffers.add(numbered(UNWATCHED.directBuffer(LENGTH, LENGTH)));
    }
  }

  @AfterEach
  void closesWithNothingLeftBehind() {
    buffers.forEach(ByteBuf::release);
    memory.close();
    assertThat(domain.open()).isEmpty();
    assertThat(memory.registeredBytes()).isZero();
  }

  private Lease lease(ByteBuf buf, int index, int length) {
    return requireNonNull(memory.lease(buf, index, length), "lease");
  }

  private void use(int buffer) {
    lease(buffers.get(buffer), 0, LENGTH).release();
  }

  /** Skips the test without native addresses, by which the cache finds registrations again. */
  private void assumeAddresses() {
    assumeTrue(buffers.get(0).hasMemoryAddress());
  }

  private int turn;

  @Test
  void leasesTheBytesThatWereAskedFor() {
    Lease lease = lease(buffers.get(0).slice(100, 1000), 7, 50);

    assertThat(bytes(domain.local(lease.lkey(), lease.address(), 50))).isEqualTo(numbers(107, 50));
    lease.release();
  }

  @Test
  void leasesForThisEndOnly() {
    Lease lease = lease(buffers.get(0), 0, LENGTH);

    assertThat(domain.open())
        .singleElement()
        .satisfies(region -> assertThat(region.access()).containsOnly(Access.LOCAL_WRITE));
    lease.release();
  }

  @Test
  void registersABufferOnceForManyLeases() {
    assumeAddresses();
    ByteBuf buf = buffers.get(0);
    for (int i = 0; i < 100; i++) {
      Lease lease = lease(buf.duplicate().slice(i, 100), 1, 50);
      assertThat(bytes(domain.local(lease.lkey(), lease.address(), 3)))
          .isEqualTo(numbers(i + 1, 3));
      lease.release();
    }
    assertThat(domain.registrations()).isOne();
    assertThat(memory.registeredBytes()).isEqualTo(LENGTH);
  }

  @Test
  void findsARegistrationAgainWithoutGarbage() {
    assumeAddresses();
    assertThat(Garbage.perRun(100_000, this::useInTurn)).isLessThan(0.5);
  }

  private void useInTurn() {
    use(turn++ & 1);
  }

  @Test
  void keepsTheMostRecentlyUsed() {
    assumeAddresses();
    for (int i = 0; i < CACHED; i++) {
      use(i);
    }
    use(0);
    use(CACHED);
    assertThat(domain.open()).hasSize(CACHED);
    int registered = domain.registrations();

    use(0);
    use(2);
    assertThat(domain.registrations()).isEqualTo(registered);
    use(1);
    assertThat(domain.registrations()).isEqualTo(registered + 1);
  }

  @Test
  void pinnedRegistrationsSurvive() {
    assumeAddresses();
    List<Lease> pinned = new ArrayList<>();
    for (int i = 0; i < CACHED; i++) {
      pinned.add(lease(buffers.get(i), 0, LENGTH));
    }
    use(CACHED);
    use(CACHED + 1);

    assertThat(domain.open()).hasSize(CACHED);
    for (Lease lease : pinned) {
      assertThat(bytes(domain.local(lease.lkey(), lease.address(), 9))).isEqualTo(numbers(0, 9));
      lease.release();
    }
  }

  @Test
  void unpinnedRegistrationsMakeRoomAtTheCeiling() {
    assumeAddresses();
    Lease pinned = lease(buffers.get(0), 0, LENGTH);
    use(1);
    use(2);

    ByteBuf most = memory.allocator().directBuffer(768 << 10);
    ByteBuf rest = memory.allocator().directBuffer(192 << 10);

    assertThat(domain.open()).hasSize(3);
    assertThat(bytes(domain.local(pinned.lkey(), pinned.address(), 9))).isEqualTo(numbers(0, 9));
    assertThatThrownBy(() -> memory.lease(buffers.get(1), 0, LENGTH))
        .isInstanceOf(MemoryLimitException.class)
        .hasMessageContaining("bytes: 65536 beside 1048576 registered");
    pinned.release();
    rest.release();
    most.release();
    use(1);
  }

  @Test
  void idleSlabsMakeRoomForALease() {
    List<ByteBuf> held = new ArrayList<>();
    assertThatThrownBy(() -> allocateForEver(held)).isInstanceOf(MemoryLimitException.class);
    held.forEach(ByteBuf::release);

    Lease lease = lease(buffers.get(0), 0, LENGTH);
    assertThat(memory.registeredBytes()).isEqualTo(LENGTH);
    lease.release();
  }

  private void allocateForEver(List<ByteBuf> held) {
    for (; ; ) {
      held.add(memory.allocator().directBuffer(1000));
    }
  }

  @Test
  void leasesAPartOfWhatIsTooLongToKeep() {
    ByteBuf huge = numbered(Unpooled.directBuffer(2 << 20));

    Lease lease = lease(huge, 256 + 7, 5000);

    assertThat(bytes(domain.local(lease.lkey(), lease.address(), 5000)))
        .isEqualTo(numbers(7, 5000));
    assertThat(memory.registeredBytes()).isEqualTo(5000);
    lease.release();
    assertThat(memory.registeredBytes()).isZero();
    huge.release();
  }

  @Test
  void registersMemoryOnceForManyWrappers() {
    ByteBuffer shared = ByteBuffer.allocateDirect(LENGTH);
    assumeTrue(Unpooled.wrappedBuffer(shared).hasMemoryAddress());
    for (int i = 0; i < 100; i++) {
      ByteBuf wrapper = Unpooled.wrappedBuffer(shared);
      wrapper.setByte(9, i);

      Lease lease = lease(wrapper, 0, LENGTH);

      assertThat(domain.local(lease.lkey(), lease.address(), 10).get(9)).isEqualTo((byte) i);
      lease.release();
      wrapper.release();
    }
    assertThat(domain.registrations()).isOne();
    assertThat(memory.registeredBytes()).isEqualTo(LENGTH);
  }

  @Test
  void registrationLastsAsLongAsTheWrapperThatUsedItLast() {
    ByteBuffer shared = ByteBuffer.allocateDirect(LENGTH);
    ByteBuf last = Unpooled.wrappedBuffer(shared);
    assumeTrue(last.hasMemoryAddress());
    lease(Unpooled.wrappedBuffer(shared), 0, LENGTH).release();
    lease(last, 0, LENGTH).release();

    System.gc();
    use(0);

    lease(last, 0, LENGTH).release();
    assertThat(domain.registrations()).isEqualTo(2);
    last.release();
  }

  /** Meanwhile another allocation may have got the address, with other pages for the HCA. */
  @Test
  void anotherBufferThatOwnsTheSameMemoryIsRegisteredAnew() {
    ByteBuffer memoryOfBoth = ByteBuffer.allocateDirect(LENGTH);
    ByteBuf first = owning(memoryOfBoth);
    assumeTrue(first.hasMemoryAddress());
    lease(first, 0, LENGTH).release();
    ByteBuf second = owning(memoryOfBoth);
    assertThat(second.memoryAddress()).isEqualTo(first.memoryAddress());

    lease(second, 0, LENGTH).release();
    lease(Unpooled.wrappedBuffer(memoryOfBoth), 0, LENGTH).release();

    assertThat(domain.registrations()).isEqualTo(3);
    assertThat(domain.open()).hasSize(1);
    first.release();
    second.release();
  }

  /** Returns a subclass, like Netty's own buffers that free their memory. */
  private static ByteBuf owning(ByteBuffer memory) {
    return new UnpooledUnsafeDirectByteBuf(
        UnpooledByteBufAllocator.DEFAULT, memory, memory.capacity()) {};
  }

  @Test
  void registrationThatWasReplacedWhilePinnedLastsAsLongAsItsLease() {
    ByteBuffer memoryOfBoth = ByteBuffer.allocateDirect(LENGTH);
    ByteBuf first = owning(memoryOfBoth);
    assumeTrue(first.hasMemoryAddress());
    Lease pinned = lease(first, 0, LENGTH);
    ByteBuf second = owning(memoryOfBoth);

    lease(second, 0, LENGTH).release();
    assertThat(domain.open()).hasSize(2);
    pinned.release();

    assertThat(domain.open()).hasSize(1);
    first.release();
    second.release();
  }

  @Test
  void holdsNobodyUpWhileItRegistersOrDeregisters() throws Exception {
    assumeAddresses();
    use(0);
    CompletableFuture<Void> entered = new CompletableFuture<>();
    CompletableFuture<Void> goOn = new CompletableFuture<>();
    domain.beforeEach(
        () -> {
          entered.complete(null);
          goOn.orTimeout(20, TimeUnit.SECONDS).join();
        });
    FutureTask<Void> registering = new FutureTask<>(() -> use(1), null);
    new Thread(registering, "registers").start();
    entered.get(20, TimeUnit.SECONDS);

    use(0);

    goOn.complete(null);
    registering.get(20, TimeUnit.SECONDS);
    domain.beforeEach(() -> {});
    holdsNobodyUpWhileItDeregisters();
  }

  private void holdsNobodyUpWhileItDeregisters() throws Exception {
    CompletableFuture<Void> entered = new CompletableFuture<>();
    CompletableFuture<Void> goOn = new CompletableFuture<>();
    FutureTask<Void> dropping =
        new FutureTask<>(
            () -> {
              for (int i = 2; i < CACHED + 1; i++) {
                use(i);
              }
            },
            null);
    domain.whileClosing(
        () -> {
          entered.complete(null);
          goOn.orTimeout(20, TimeUnit.SECONDS).join();
        });
    new Thread(dropping, "deregisters").start();
    entered.get(20, TimeUnit.SECONDS);

    use(1);

    goOn.complete(null);
    dropping.get(20, TimeUnit.SECONDS);
    domain.whileClosing(() -> {});
  }

  @Test
  void dropsTheRegistrationOfABufferThatIsGone() {
    assumeAddresses();
    try (RegisteredMemory roomy = Memories.of(domain)) {
      leaseAndLetGo(roomy);
      await("a collection")
          .atMost(Duration.ofSeconds(20))
          .pollInSameThread()
          .until(
              () -> {
                System.gc();
                leaseAndLetGo(roomy);
                return domain.open().size() < domain.registrations();
              });
    }
  }

  /** The registration keeps the memory alive, so no other buffer gets its address. */
  private static void leaseAndLetGo(RegisteredMemory from) {
    ByteBuf buf = Unpooled.wrappedBuffer(ByteBuffer.allocateDirect(64));
    requireNonNull(from.lease(buf, 0, 64)).release();
  }

  @Test
  void withoutACacheItDeregistersAtRelease() {
    try (RegisteredMemory uncached =
        new RegisteredMemory(domain, RdmaOptions.builder().maxCachedRegistrations(0).build())) {
      Lease lease = requireNonNull(uncached.lease(buffers.get(0), 5, 10));

      assertThat(bytes(domain.local(lease.lkey(), lease.address(), 10))).isEqualTo(numbers(5, 10));
      lease.release();
      assertThat(domain.open()).isEmpty();
    }
  }

  @Test
  void leavesWhatTheHcaDoesNotDeregisterToTheEnd() {
    try (RegisteredMemory uncached =
        new RegisteredMemory(domain, RdmaOptions.builder().maxCachedRegistrations(0).build())) {
      Lease lease = requireNonNull(uncached.lease(buffers.get(0), 5, 10));
      domain.whileClosing(RegistrationCacheTest::refuse);

      lease.release();

      assertThat(domain.open()).hasSize(1);
      assertThat(uncached.registeredBytes()).isEqualTo(10);
      domain.whileClosing(() -> {});
    }
    assertThat(domain.open()).isEmpty();
  }

  @Test
  void usesSlabsThatTheHcaDoesNotDeregister() {
    ByteBuf large = memory.allocator().directBuffer(512 << 10);
    large.release();
    memory.allocator().directBuffer(1000).release();
    int open = domain.open().size();
    domain.whileClosing(RegistrationCacheTest::refuse);
    ByteBuf tooLong = Unpooled.directBuffer((int) LIMIT);

    assertThatThrownBy(() -> memory.lease(tooLong, 0, (int) LIMIT))
        .isInstanceOf(MemoryLimitException.class);

    assertThat(domain.open()).hasSize(open);
    memory.allocator().directBuffer(1000).release();
    assertThat(domain.open()).hasSize(open);
    domain.whileClosing(() -> {});
    lease(tooLong, 0, (int) LIMIT).release();
    tooLong.release();
  }

  private static void refuse() {
    throw new VerbsException(VerbsError.BUSY, "close: refused by a test");
  }

  @Test
  void answersNullForWhatMustBeCopied() {
    ByteBuf direct = buffers.get(0);
    ByteBuf heap = Unpooled.buffer(64).writeZero(64);
    ByteBuf several =
        Unpooled.wrappedBuffer(direct.retainedSlice(0, 5), direct.retainedSlice(9, 5));

    assertThat(memory.lease(heap, 0, 64)).isNull();
    assertThat(memory.lease(several, 0, 10)).isNull();
    assertThat(memory.lease(direct.asReadOnly(), 0, 64)).isNull();
    assertThat(memory.lease(direct, 0, 0)).isNull();
    assertThat(domain.registrations()).isZero();
    heap.release();
    several.release();
  }

  @Test
  void rejectsARangeBeyondTheBufferAndAReleasedBuffer() {
    ByteBuf buf = Unpooled.directBuffer(64);
    assertThatThrownBy(() -> memory.lease(buf, 1, 64))
        .isInstanceOf(IndexOutOfBoundsException.class);
    buf.release();
    assertThatThrownBy(() -> memory.lease(buf, 0, 8))
        .isInstanceOf(IllegalReferenceCountException.class);
  }

  @Test
  void refusalOfTheHcaCostsNothing() {
    domain.accept(0);

    assertThatThrownBy(() -> memory.lease(buffers.get(0), 0, LENGTH))
        .isInstanceOf(HcaException.class);

    assertThat(memory.registeredBytes()).isZero();
  }

  @ParameterizedTest
  @ValueSource(longs = {LENGTH, LIMIT})
  void aBufferThatThrowsCostsNothing(long length) {
    // The first length is registered as a whole; the second one is too long, and only in part.
    ByteBuf hostile = Memories.withoutNioBuffers((int) length);

    assertThatThrownBy(() -> memory.lease(hostile, 0, LENGTH))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(Memories.NO_NIO_BUFFER);

    assertThat(memory.registeredBytes()).isZero();
    hostile.release();
  }

  @Test
  void aLeaseIsReleasedOnce() {
    Lease lease = lease(buffers.get(0), 0, LENGTH);
    lease.release();

    assertThatThrownBy(lease::release).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void leasesNothingOnceClosed() {
    Lease lease = lease(buffers.get(0), 0, LENGTH);
    memory.close();

    assertThat(domain.open()).isEmpty();
    lease.release();
    assertThatThrownBy(() -> memory.lease(buffers.get(1), 0, LENGTH))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  @Test
  void manyThreadsLeaseWithoutLosingAByteOfTheCeiling() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Callable<Integer>> tasks = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        tasks.add(this::leaseAtRandom);
      }
      for (Future<Integer> result : threads.invokeAll(tasks, 60, TimeUnit.SECONDS)) {
        assertThat(result.get()).isZero();
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(memory.registeredBytes()).isEqualTo(domain.openBytes());
    assertThat(domain.open()).hasSizeLessThanOrEqualTo(CACHED);
  }

  private int leaseAtRandom() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    int wrong = 0;
    for (int i = 0; i < 20_000; i++) {
      ByteBuf buf = buffers.get(random.nextInt(buffers.size()));
      int index = random.nextInt(LENGTH - 8);
      Lease lease = lease(buf, index, 8);
      wrong += domain.local(lease.lkey(), lease.address(), 8).get(0) == (byte) index ? 0 : 1;
      lease.release();
    }
    return wrong;
  }

  @Test
  void findsPooledBuffersAgain() {
    assumeAddresses();
    for (int i = 0; i < 10; i++) {
      ByteBuf pooled = numbered(PooledByteBufAllocator.DEFAULT.directBuffer(LENGTH, LENGTH));
      Lease lease = lease(pooled, 3, 100);
      assertThat(bytes(domain.local(lease.lkey(), lease.address(), 100)))
          .isEqualTo(numbers(3, 100));
      lease.release();
      pooled.release();
    }
    assertThat(domain.open()).hasSizeLessThanOrEqualTo(CACHED);
  }
}
