// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** One end of a connection on the fake rdma-core: a device with its objects and memory. */
final class FakeEnd implements AutoCloseable {
  static final int BYTES = 64;
  static final long NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final long PAUSE_NANOS = 20_000;

  final DisniDevice device;
  final DisniProtectionDomain domain;
  final DisniCompletionQueue completions;
  final DisniConnectionManager manager;
  final ByteBuffer bytes = ByteBuffer.allocateDirect(BYTES);
  final MemoryRegion memory;
  private @Nullable ConnectionIdentifier identifier;
  private @Nullable QueuePair pair;

  /**
   * @param host an address of the device, as in its profile
   */
  FakeEnd(String host) {
    device = FakeRdmaCore.open(FakeRdmaCore.uri(host + ":0"));
    domain = device.allocateProtectionDomain();
    completions = device.createCompletionQueue(16, null, false);
    manager = device.createConnectionManager();
    memory =
        domain.register(bytes, Set.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE));
  }

  String name() {
    return device.context().name();
  }

  /** Takes ownership of the identifier and creates its queue pair. */
  ConnectionIdentifier take(ConnectionIdentifier taken) {
    identifier = taken;
    pair = taken.createQueuePair(domain, QueuePairOptions.reliable(completions, completions, 4, 4));
    return taken;
  }

  QueuePair pair() {
    return Objects.requireNonNull(pair, "pair");
  }

  /** Returns the address of an offset in {@link #memory}. */
  long at(int offset) {
    return memory.address() + offset;
  }

  /** Waits for the next event of the connection manager. */
  ConnectionIdentifier expect(ConnectionEvent.Type type) throws InterruptedException {
    ConnectionEvent event = manager.await(NANOS);
    assertThat(event).as("the event %s", type).isNotNull();
    assertThat(event.type()).as("%s", event).isEqualTo(type);
    return event.identifier();
  }

  /** Waits for the next completion. */
  WorkCompletion complete() {
    WorkCompletion[] one = WorkCompletion.array(1);
    long start = System.nanoTime();
    while (completions.poll(one) == 0) {
      assertThat(System.nanoTime() - start).as("time without a completion").isLessThan(NANOS);
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    return one[0];
  }

  @Override
  public void close() {
    if (pair != null) {
      pair.close();
    }
    if (identifier != null) {
      identifier.close();
    }
    manager.close();
    memory.close();
    completions.close();
    domain.close();
    device.close();
  }
}
