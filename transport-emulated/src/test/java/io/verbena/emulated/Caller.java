// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.VerbsProviders;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/** One end of a connection with its device, memory and queues; closes all of them together. */
public final class Caller implements AutoCloseable {
  public static final int SIZE = 1 << 20;
  public static final Duration LIMIT = Duration.ofSeconds(20);

  public final ByteBuffer bytes;
  public final MemoryRegion region;
  public final ConnectionManager manager;
  public final Device device;
  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final CompletionQueue completions;
  private final ProtectionDomain domain;
  private final WorkCompletion[] one = WorkCompletion.array(1);

  public Caller(URI address) {
    this(address, 256);
  }

  public Caller(URI address, int mostCompletions) {
    device = own(VerbsProviders.find(address).open(address));
    completions = own(device.createCompletionQueue(mostCompletions, null));
    domain = own(device.allocateProtectionDomain());
    EnumSet<Access> rights = EnumSet.allOf(Access.class);
    if (!device.attributes().supports(Capability.ATOMICS)) {
      rights.remove(Access.REMOTE_ATOMIC);
    }
    bytes = device.allocateMemory(SIZE);
    region = own(domain.register(bytes, rights));
    manager = own(device.createConnectionManager());
  }

  private <T extends AutoCloseable> T own(T object) {
    open.push(object);
    return object;
  }

  public QueuePair queuePair(ConnectionIdentifier identifier) {
    own(identifier);
    return own(
        identifier.createQueuePair(
            domain, QueuePairOptions.reliable(completions, completions, 64, 64)));
  }

  /** Creates a queue pair for datagrams, which closes together with its identifier. */
  public QueuePair datagrams(ConnectionIdentifier identifier) {
    own(identifier);
    return own(
        identifier.createQueuePair(
            domain,
            QueuePairOptions.reliable(completions, completions, 64, 64)
                .withType(QueuePairType.UD)));
  }

  public ProtectionDomain domain() {
    return domain;
  }

  public ConnectionEvent expect(ConnectionEvent.Type type) throws InterruptedException {
    ConnectionEvent event = manager.await(LIMIT.toNanos());
    assertThat(event).as("a connection event").isNotNull();
    assertThat(event.type()).isEqualTo(type);
    return event;
  }

  /** Connects; the returned event carries the private data of the other end. */
  public ConnectionEvent connect(URI to, int retryCount) throws InterruptedException {
    ConnectionIdentifier active = resolve(to);
    active.connect(
        new ConnectionParameters(ByteBuffer.allocate(0), 4, 4, retryCount, 7), LIMIT.toNanos());
    return expect(ConnectionEvent.Type.ESTABLISHED);
  }

  /** Resolves an address and creates the queue pair of the active end. */
  public ConnectionIdentifier resolve(URI to) throws InterruptedException {
    ConnectionIdentifier active = manager.resolve(to, LIMIT.toNanos());
    expect(ConnectionEvent.Type.ADDR_RESOLVED);
    QueuePair pair = queuePair(active);
    assertThat(pair.number()).isPositive();
    return active;
  }

  /** Returns the next completion, or null; it is valid until the next call. */
  public @Nullable WorkCompletion poll() {
    return completions.poll(one) == 0 ? null : one[0];
  }

  /** Waits for the next completion. */
  @SuppressWarnings("ThreadPriorityCheck") // the reason is at the call
  public WorkCompletion next() {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (completions.poll(one) == 0) {
      assertThat(System.nanoTime()).as("a completion in time").isLessThan(deadline);
      // On a machine with one CPU, the other process needs it to make progress.
      Thread.yield();
    }
    return one[0];
  }

  @Override
  public void close() {
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (Exception e) {
        throw new AssertionError("not everything could be closed", e);
      }
    }
  }
}
