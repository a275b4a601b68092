// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaOptions;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests a limit of the JVM that is lower than the user's. */
class DirectMemoryTest {
  private static final int MIB = 1 << 20;
  private static final long MOST = 64 * MIB;
  private static final long LIMIT = 1L << 31;

  private final RecordingDomain domain = new RecordingDomain();
  private final AtomicLong inUse = new AtomicLong();
  private final AtomicInteger asked = new AtomicInteger();
  private final List<ByteBuf> held = new ArrayList<>();
  private final DirectMemory direct =
      new DirectMemory(MOST, inUse::get, (device, length) -> allocate(length));
  private final RegisteredMemory memory =
      new RegisteredMemory(domain, RdmaOptions.builder().maxRegisteredBytes(LIMIT).build(), direct);

  /** Allocates as a JVM does, but without garbage collections. */
  private ByteBuffer allocate(int length) {
    asked.incrementAndGet();
    if (inUse.get() + length > MOST) {
      throw new OutOfMemoryError("direct memory");
    }
    inUse.addAndGet(length);
    return ByteBuffer.allocateDirect(length);
  }

  @AfterEach
  void closesWithNothingLeftBehind() {
    held.forEach(ByteBuf::release);
    memory.close();
    assertThat(domain.open()).isEmpty();
    assertThat(memory.registeredBytes()).isZero();
  }

  private ByteBuf hold(int length) {
    ByteBuf buffer = memory.allocator().directBuffer(length, length);
    held.add(buffer);
    return buffer;
  }

  private void holdForEver(int length) {
    for (; ; ) {
      hold(length);
    }
  }

  @Test
  void leavesAQuarterOfTheJvmsMemoryToOthersAndNamesBothFigures() {
    assertThatThrownBy(() -> holdForEver(8192))
        .isInstanceOf(MemoryLimitException.class)
        .hasMessageContaining("expected: together <= " + MOST * 3 / 4)
        .hasMessageContaining("limit of direct memory, " + MOST)
        .hasMessageContaining("RdmaOptions.maxRegisteredBytes is " + LIMIT)
        .hasMessageContaining("-XX:MaxDirectMemorySize");

    assertThat(memory.registeredBytes()).isBetween(MOST / 2, MOST * 3 / 4);
  }

  @Test
  void sharesTheJvmsMemoryWithOtherDevices() {
    RecordingDomain otherDomain = new RecordingDomain();
    try (RegisteredMemory other =
        new RegisteredMemory(otherDomain, RdmaOptions.defaults(), direct)) {
      ByteBuf most = other.allocator().directBuffer(40 * MIB);

      assertThatThrownBy(() -> hold(16 * MIB)).isInstanceOf(MemoryLimitException.class);

      most.release();
    }
    inUse.set(0);
    hold(16 * MIB);
  }

  @ParameterizedTest
  @CsvSource({"100", "12000", "3000000"})
  void asksAJvmThatRefusedAgainOnlyAfterSomethingWasFreed(int length) {
    inUse.set(MOST);
    assertThatThrownBy(() -> hold(length))
        .isInstanceOf(MemoryLimitException.class)
        .hasMessageContaining("<= " + MOST + ", the JVM's limit");
    int first = asked.get();

    for (int i = 0; i < 1000; i++) {
      assertThatThrownBy(() -> hold(length)).isInstanceOf(MemoryLimitException.class);
    }
    assertThat(asked).hasValue(first);
    assertThat(memory.registeredBytes()).isZero();

    inUse.addAndGet(-length / 2);
    assertThatThrownBy(() -> hold(length)).isInstanceOf(MemoryLimitException.class);
    assertThat(asked).as("asked when too little was freed").hasValue(first);

    inUse.set(0);
    hold(length);
  }

  @Test
  void asksAgainWhenSlabsWereGivenUpThatACollectionFrees() {
    ByteBuf large = memory.allocator().directBuffer(40 * MIB);
    inUse.set(MOST);
    assertThatThrownBy(() -> hold(20_000)).isInstanceOf(MemoryLimitException.class);
    int first = asked.get();

    large.release();
    assertThatThrownBy(() -> hold(20_000)).isInstanceOf(MemoryLimitException.class);

    assertThat(asked).hasValueGreaterThan(first);
    int second = asked.get();
    assertThatThrownBy(() -> hold(20_000)).isInstanceOf(MemoryLimitException.class);
    assertThat(asked).as("asked when the garbage was of no use").hasValue(second);
  }

  @Test
  void asksAnHcaThatRefusedAgainOnlyAfterSomethingWasDeregistered() {
    ByteBuf large = memory.allocator().directBuffer(20 * MIB);
    domain.accept(0);
    long start = System.nanoTime();
    assertThatThrownBy(() -> hold(8192)).isInstanceOf(MemoryLimitException.class);
    int first = domain.registrations();

    for (int i = 0; i < 1000; i++) {
      assertThatThrownBy(() -> hold(8192)).isInstanceOf(MemoryLimitException.class);
    }
    // An HCA may be asked again after a second, because other processes lock memory, too.
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
    assertThat((long) domain.registrations()).isLessThanOrEqualTo(first + 2 * seconds);

    domain.accept(1);
    large.release();
    hold(8192);
  }

  @Test
  void letsOthersAllocateWhileTheJvmTakesItsTime() throws Exception {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicInteger calls = new AtomicInteger();
    DirectMemory slow =
        new DirectMemory(
            MOST,
            () -> 0,
            (device, length) -> {
              if (calls.incrementAndGet() == 1) {
                entered.countDown();
                awaitUninterruptibly(goOn);
              }
              return ByteBuffer.allocateDirect(length);
            });
    RecordingDomain otherDomain = new RecordingDomain();
    try (RegisteredMemory other = new RegisteredMemory(otherDomain, RdmaOptions.defaults(), slow)) {
      CompletableFuture<Boolean> waiting =
          CompletableFuture.supplyAsync(
              () -> other.allocator().directBuffer(256).release(), inAThread());
      assertThat(entered.await(30, TimeUnit.SECONDS)).isTrue();

      CompletableFuture<Boolean> passing =
          CompletableFuture.supplyAsync(
              () -> other.allocator().directBuffer(8192).release(), inAThread());

      assertThat(passing).succeedsWithin(Duration.ofSeconds(30));
      assertThat(waiting).isNotDone();
      goOn.countDown();
      assertThat(waiting).succeedsWithin(Duration.ofSeconds(30));
    } finally {
      goOn.countDown();
    }
  }

  /** With two processors the common pool has one thread, and JDK 25 always uses the pool. */
  private static Executor inAThread() {
    return task -> new Thread(task, "allocates").start();
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await(60, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void knowsTheLimitOfThisJvm() {
    assertThat(DirectMemory.jvm().share()).isPositive().isLessThan(Long.MAX_VALUE / 2);
  }
}
