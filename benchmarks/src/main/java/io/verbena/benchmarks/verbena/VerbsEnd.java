// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.verbena.benchmarks.work.DirectMemory;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Device;
import io.verbena.verbs.DeviceCounters;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeoutException;

/** One end of a connection at the verbs SPI, with a device of its own. For one thread. */
public final class VerbsEnd implements AutoCloseable {
  static final int DEPTH = 1024;

  private static final long LIMIT = Duration.ofMinutes(1).toNanos();

  // Closed in reverse order.
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  /** The completion queue of sends. */
  public final CompletionQueue sent;

  /** The completion queue of receives. */
  public final CompletionQueue received;

  /** The connection manager. */
  public final ConnectionManager manager;

  private final Device device;
  private final ProtectionDomain domain;

  /** Opens the device of this address. */
  public VerbsEnd(URI address) {
    device = keep(VerbsProviders.find(address).open(address));
    domain = keep(device.allocateProtectionDomain());
    sent = keep(device.createCompletionQueue(DEPTH, null, true));
    received = keep(device.createCompletionQueue(DEPTH, null, true));
    manager = keep(device.createConnectionManager());
  }

  /** Adds a resource that {@link #close} closes, before all resources added earlier. */
  public <T extends AutoCloseable> T keep(T resource) {
    open.push(resource);
    return resource;
  }

  /** Returns the counters of the device. */
  public DeviceCounters counters() {
    return device.counters();
  }

  /** Returns the memory that suits the device best, aligned to a page. */
  ByteBuffer allocate(int bytes) {
    return DirectMemory.allocate(bytes, device::allocateMemory);
  }

  /** Registers memory until this end is closed. */
  public MemoryRegion register(ByteBuffer memory, Access... access) {
    Set<Access> rights = EnumSet.noneOf(Access.class);
    rights.addAll(Set.of(access));
    return keep(domain.register(memory, rights));
  }

  /** Creates the queue pair of a connection. */
  QueuePair queuePair(ConnectionIdentifier identifier) {
    return queuePair(identifier, DEPTH, DEPTH);
  }

  /** Creates the queue pair of a connection, with these depths of its queues. */
  public QueuePair queuePair(ConnectionIdentifier identifier, int sends, int receives) {
    keep(identifier);
    return keep(
        identifier.createQueuePair(
            domain, QueuePairOptions.reliable(sent, received, sends, receives)));
  }

  /** Connects to a listener and returns the queue pair. */
  QueuePair connect(URI listener) throws InterruptedException, TimeoutException {
    ConnectionIdentifier connecting = manager.resolve(listener, LIMIT);
    await(ConnectionEvent.Type.ADDR_RESOLVED);
    QueuePair pair = queuePair(connecting);
    connecting.connect(ConnectionParameters.defaults(), LIMIT);
    await(ConnectionEvent.Type.ESTABLISHED);
    return pair;
  }

  /** Waits for the next request for a connection. */
  ConnectionIdentifier request() throws InterruptedException, TimeoutException {
    return await(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
  }

  /** Accepts a request. Receives must be posted already, as iWARP has no RNR retries. */
  void accept(ConnectionIdentifier request) throws InterruptedException, TimeoutException {
    request.accept(ConnectionParameters.defaults());
    await(ConnectionEvent.Type.ESTABLISHED);
  }

  /** Waits for the next event of the connection manager, which must have this type. */
  public ConnectionEvent await(ConnectionEvent.Type type)
      throws InterruptedException, TimeoutException {
    ConnectionEvent event = manager.await(LIMIT);
    if (event == null) {
      throw new TimeoutException("connection event: none (expected: " + type + ")");
    }
    if (event.type() != type) {
      throw new IllegalStateException("connection event: " + event + " (expected: " + type + ")");
    }
    return event;
  }

  @Override
  public void close() {
    Closing.all(open);
  }
}
