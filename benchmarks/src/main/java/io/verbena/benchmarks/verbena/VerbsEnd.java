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

/** One end of a connection at the verbs SPI, with a device of its own. One thread. */
public final class VerbsEnd implements AutoCloseable {
  static final int DEPTH = 1024;

  private static final long LIMIT = Duration.ofMinutes(1).toNanos();

  // Closed from the last to the first.
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  /** The completion queue of sends. */
  public final CompletionQueue sent;

  /** The completion queue of receives. */
  public final CompletionQueue received;

  /** The manager of its connections. */
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

  /** Remembers something to be closed with this end, before all that it came from. */
  public <T extends AutoCloseable> T keep(T resource) {
    open.push(resource);
    return resource;
  }

  /** The counters of its device. */
  public DeviceCounters counters() {
    return device.counters();
  }

  /** Memory that suits the device best, and starts on a page. */
  ByteBuffer allocate(int bytes) {
    return DirectMemory.allocate(bytes, device::allocateMemory);
  }

  /** Registers memory until this end is closed. */
  public MemoryRegion register(ByteBuffer memory, Access... access) {
    Set<Access> rights = EnumSet.noneOf(Access.class);
    rights.addAll(Set.of(access));
    return keep(domain.register(memory, rights));
  }

  /** Makes the queue pair of a connection. */
  QueuePair queuePair(ConnectionIdentifier identifier) {
    return queuePair(identifier, DEPTH, DEPTH);
  }

  /** Makes the queue pair of a connection, for so many sends and receives. */
  public QueuePair queuePair(ConnectionIdentifier identifier, int sends, int receives) {
    keep(identifier);
    return keep(
        identifier.createQueuePair(
            domain, QueuePairOptions.reliable(sent, received, sends, receives)));
  }

  /** Connects to a listener; returns the queue pair. */
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

  /** Accepts a request, whose queue pair has its receives already: iWARP waits for none. */
  void accept(ConnectionIdentifier request) throws InterruptedException, TimeoutException {
    request.accept(ConnectionParameters.defaults());
    await(ConnectionEvent.Type.ESTABLISHED);
  }

  /** The next event of the connection manager, which must be of this type. */
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
