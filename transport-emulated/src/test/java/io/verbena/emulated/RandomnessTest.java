// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A peer that has seen many keys, queue pair numbers and PSNs cannot predict the next. */
class RandomnessTest {
  private static final int NUMBERS = 4096;
  private static final int CONNECTIONS = 2048;
  private static final long LIMIT = TimeUnit.SECONDS.toNanos(10);

  private final EmulatedDevice device =
      (EmulatedDevice) new EmulatedProvider().open(URI.create("emulated://randomness"));
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final CompletionQueue completions = device.createCompletionQueue(16, null);

  @AfterEach
  void close() {
    completions.close();
    domain.close();
    device.close();
  }

  @Test
  void keysAreRandom() {
    ByteBuffer memory = ByteBuffer.allocateDirect(8);
    int[] keys = new int[NUMBERS];
    for (int i = 0; i < NUMBERS; i++) {
      try (MemoryRegion region =
          domain.register(memory, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE))) {
        keys[i] = region.rkey();
      }
    }

    Randomness.assertRandom(keys, 32);
  }

  @Test
  void queuePairNumbersAreRandom() {
    int[] numbers = new int[NUMBERS];
    for (int i = 0; i < NUMBERS; i++) {
      try (QueuePair pair = domain.createQueuePair(options())) {
        numbers[i] = pair.number();
      }
    }

    Randomness.assertRandom(numbers, 24);
  }

  @Test
  void startingPsnsAreRandomOnBothSides() throws Exception {
    int[] active = new int[CONNECTIONS];
    int[] passive = new int[CONNECTIONS];
    URI address = URI.create("emulated://randomness");
    try (ConnectionManager manager = device.createConnectionManager();
        ConnectionListener listener = manager.listen(address, 4)) {
      for (int i = 0; i < CONNECTIONS; i++) {
        connect(manager, listener.address(), i, active, passive);
      }
    }

    Randomness.assertRandom(active, 24);
    Randomness.assertRandom(passive, 24);
    int[] apart = new int[CONNECTIONS];
    Arrays.setAll(apart, i -> active[i] - passive[i]);
    Randomness.assertRandom(apart, 24);
  }

  private void connect(ConnectionManager manager, URI address, int i, int[] active, int[] passive)
      throws InterruptedException {
    ByteBuffer nothing = ByteBuffer.allocate(0);
    try (ConnectionIdentifier client = manager.resolve(address, LIMIT)) {
      await(manager, ConnectionEvent.Type.ADDR_RESOLVED);
      try (QueuePair clientPair = client.createQueuePair(domain, options())) {
        client.connect(ConnectionParameters.of(nothing), LIMIT);
        try (ConnectionIdentifier server =
                await(manager, ConnectionEvent.Type.CONNECT_REQUEST).identifier();
            QueuePair serverPair = server.createQueuePair(domain, options())) {
          server.accept(ConnectionParameters.of(nothing));
          active[i] = clientPair.query().sendPsn();
          passive[i] = serverPair.query().sendPsn();
          assertThat(serverPair.query().receivePsn()).isEqualTo(active[i]);
        }
      }
    }
  }

  private static ConnectionEvent await(ConnectionManager manager, ConnectionEvent.Type type)
      throws InterruptedException {
    long deadline = System.nanoTime() + LIMIT;
    while (System.nanoTime() < deadline) {
      ConnectionEvent event = manager.await(deadline - System.nanoTime());
      if (event != null && event.type() == type) {
        return event;
      }
    }
    throw new AssertionError("no " + type);
  }

  private QueuePairOptions options() {
    return QueuePairOptions.reliable(completions, completions, 1, 1);
  }

  @Test
  void theJudgeRefusesWhatAPeerCouldGuess() {
    Random random = new Random(1);
    int key = random.nextInt();
    int[] few = IntStream.range(0, 16).map(i -> random.nextInt()).toArray();
    refuses("a counter", i -> i);
    refuses("a counter from anywhere", i -> key + i);
    refuses("a counter in the high bits", i -> i << 8 | 0x17);
    refuses("random steps upwards", i -> i * 1000 + random.nextInt(1000));
    refuses("a cycle", i -> few[i % few.length]);
    refuses("a bit that is never set", i -> random.nextInt() & ~0x40);
    refuses("a constant multiple", i -> i * 0x9E3779B9);
  }

  private static void refuses(String what, IntUnaryOperator numbers) {
    assertThatThrownBy(
            () -> Randomness.assertRandom(IntStream.range(0, NUMBERS).map(numbers).toArray(), 24))
        .as(what)
        .isInstanceOf(AssertionError.class);
  }
}
