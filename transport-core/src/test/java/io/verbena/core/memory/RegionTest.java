// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import static io.verbena.RemoteMemory.Right.ATOMIC;
import static io.verbena.RemoteMemory.Right.READ;
import static io.verbena.RemoteMemory.Right.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.verbena.HcaException;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaMemory;
import io.verbena.RemoteMemory;
import io.verbena.verbs.Access;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class RegionTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final RecordingDomain domain = new RecordingDomain();
  private final RegisteredMemory memory = Memories.of(domain, 1 << 16);
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(4096);
  private final CountDownLatch inside = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);

  @AfterEach
  void closesWithNothingLeftBehind() {
    memory.close();
    memory.close();
    assertThat(domain.open()).isEmpty();
    assertThat(memory.registeredBytes()).isZero();
  }

  @Test
  void isClosedOnlyWithTheRegionThatAnotherThreadCloses() throws InterruptedException {
    RdmaMemory.Region region = memory.register(buffer, Set.of(READ));
    domain.whileClosing(this::stay);

    closeWhileAnother(region::close);
  }

  @Test
  void isClosedOnlyWithTheRegionThatAnotherThreadRegisters() throws InterruptedException {
    domain.whileRegistering(this::stay);

    closeWhileAnother(
        () ->
            assertThatThrownBy(() -> memory.register(buffer, Set.of(READ)))
                .isInstanceOf(IllegalStateException.class));
  }

  private void stay() {
    inside.countDown();
    awaitUninterruptibly(goOn);
  }

  /** Closes the memory while another thread runs {@code action}; asserts that the close waits. */
  private void closeWhileAnother(Runnable action) throws InterruptedException {
    Thread another = new Thread(action, "another");
    Thread closing = new Thread(memory::close, "closes-memory");
    another.start();
    awaitUninterruptibly(inside);
    closing.start();
    await().atMost(LIMIT).until(() -> isWaiting(closing) || !closing.isAlive());
    boolean waited = closing.isAlive();
    goOn.countDown();
    another.join(LIMIT.toMillis());
    closing.join(LIMIT.toMillis());

    assertThat(waited).isTrue();
    assertThat(domain.open()).isEmpty();
  }

  private static boolean isWaiting(Thread thread) {
    return thread.getState() == Thread.State.BLOCKED
        || thread.getState() == Thread.State.TIMED_WAITING;
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      assertThat(latch.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  static List<Arguments> rights() {
    return List.of(
        Arguments.of(Set.of(READ), Set.of(Access.REMOTE_READ)),
        Arguments.of(Set.of(WRITE), Set.of(Access.REMOTE_WRITE, Access.LOCAL_WRITE)),
        Arguments.of(Set.of(ATOMIC), Set.of(Access.REMOTE_ATOMIC, Access.LOCAL_WRITE)),
        Arguments.of(
            Set.of(READ, WRITE, ATOMIC),
            Set.of(
                Access.REMOTE_READ,
                Access.REMOTE_WRITE,
                Access.REMOTE_ATOMIC,
                Access.LOCAL_WRITE)));
  }

  @ParameterizedTest
  @MethodSource("rights")
  void grantsTheRightsThatWereGivenAndNoMore(Set<RemoteMemory.Right> rights, Set<Access> access) {
    try (RdmaMemory.Region region = memory.register(buffer, rights)) {
      assertThat(region.token().rights()).isEqualTo(rights);
      assertThat(domain.open())
          .singleElement()
          .satisfies(open -> assertThat(open.access()).isEqualTo(access));
    }
    assertThat(memory.registeredBytes()).isZero();
  }

  @Test
  void givesOutPositionToLimitAndNoByteMore() {
    buffer.position(100).limit(300).put(100, (byte) 42);
    RemoteMemory token = memory.register(buffer, Set.of(READ)).token();

    assertThat(token.length()).isEqualTo(200);
    assertThat(domain.readByPeer(token.key(), token.address(), 200).get(0)).isEqualTo((byte) 42);
    assertThatThrownBy(() -> domain.readByPeer(token.key(), token.address(), 201))
        .isInstanceOf(AssertionError.class);
    assertThat(memory.registeredBytes()).isEqualTo(200);
  }

  @Test
  void closesOnce() {
    RdmaMemory.Region region = memory.register(buffer, Set.of(READ));
    assertThat(region).hasToString("Region[" + region.token() + "]");
    region.close();
    region.close();

    assertThat(domain.open()).isEmpty();
    assertThat(region).asString().startsWith("Region[closed");
  }

  @Test
  void rejectsHeapMemory() {
    assertThatThrownBy(() -> memory.register(ByteBuffer.allocate(64), Set.of(READ)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("on the heap (expected: a direct buffer");
  }

  @Test
  void rejectsReadOnlyMemoryThatPeersMayWrite() {
    assertThatThrownBy(() -> memory.register(buffer.asReadOnlyBuffer(), Set.of(READ, WRITE)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("read-only buffer (expected: READ alone)");
    memory.register(buffer.asReadOnlyBuffer(), Set.of(READ)).close();
  }

  @Test
  void rejectsAnEmptyBufferAndNoRights() {
    assertThatThrownBy(() -> memory.register(ByteBuffer.allocateDirect(0), Set.of(READ)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("buffer: 0 bytes (expected: >= 1)");
    assertThatThrownBy(() -> memory.register(buffer, Set.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("rights: [] (expected: at least one)");
  }

  @Test
  void failsAtTheCeilingAndWhenTheHcaRefuses() {
    ByteBuffer long65537 = ByteBuffer.allocateDirect((1 << 16) + 1);
    assertThatThrownBy(() -> memory.register(long65537, Set.of(READ)))
        .isInstanceOf(MemoryLimitException.class)
        .hasMessageContaining("register: bytes: 65537 beside 0 registered");
    domain.accept(0);
    assertThatThrownBy(() -> memory.register(buffer, Set.of(READ)))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("register: bytes: 4096");
    assertThat(memory.registeredBytes()).isZero();
  }

  @Test
  void closingTheMemoryKillsTheTokens() {
    RemoteMemory token = memory.register(buffer, Set.of(READ)).token();
    memory.close();

    assertThatThrownBy(() -> domain.readByPeer(token.key(), token.address(), 1))
        .isInstanceOf(AssertionError.class);
    assertThatThrownBy(() -> memory.register(buffer, Set.of(READ)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    assertThat(domain.open()).isEmpty();
  }
}
