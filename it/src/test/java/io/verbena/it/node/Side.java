// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsProviders;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * One end of verbs on a node, for one thread: a device, a domain, a polled completion queue, a
 * manager, and one region of memory with all rights for peers. Closing the side closes them all.
 */
public final class Side implements AutoCloseable {
  /** The time limit for anything that must happen. */
  public static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final int DEPTH = 64;
  private static final long PAUSE_NANOS = 50_000;

  private final URI address;
  private final Device device;
  private final ProtectionDomain domain;
  private final CompletionQueue queue;
  private final ConnectionManager manager;
  private final ByteBuffer memory;
  private final MemoryRegion region;
  private final WorkCompletion[] one = WorkCompletion.array(1);

  private Side(URI address, int bytes) {
    this.address = address;
    device = VerbsProviders.find(address).open(address);
    domain = device.allocateProtectionDomain();
    queue = device.createCompletionQueue(4 * DEPTH, null);
    manager = device.createConnectionManager();
    memory = ByteBuffer.allocateDirect(bytes);
    region = domain.register(memory, rights());
  }

  /** Returns all access rights that peers can have here. */
  private Set<Access> rights() {
    EnumSet<Access> rights = EnumSet.complementOf(EnumSet.of(Access.MW_BIND));
    if (!device.attributes().supports(Capability.ATOMICS)) {
      rights.remove(Access.REMOTE_ATOMIC);
    }
    return rights;
  }

  /**
   * Opens the device of an address.
   *
   * @param address the address to listen on, with port 0 for any, or to connect to
   * @param bytes the size of the registered memory
   */
  public static Side open(String address, int bytes) {
    return new Side(URI.create(address), bytes);
  }

  /** Listens on the address of this side. */
  public ConnectionListener listen() {
    return manager.listen(address, 8);
  }

  /** Returns the device. */
  public Device device() {
    return device;
  }

  /** Returns the protection domain. */
  public ProtectionDomain domain() {
    return domain;
  }

  /** Returns the queue in which everything completes. */
  public CompletionQueue queue() {
    return queue;
  }

  /** Returns the connection manager. */
  public ConnectionManager manager() {
    return manager;
  }

  /** Returns the memory. */
  public ByteBuffer memory() {
    return memory;
  }

  /** Returns the registered region of the memory. */
  public MemoryRegion region() {
    return region;
  }

  /** Resolves the address of a peer and creates the queue pair. */
  public ConnectionIdentifier resolve(URI to) throws InterruptedException {
    ConnectionIdentifier identifier = manager.resolve(to, PATIENCE.toNanos());
    expect(ConnectionEvent.Type.ADDR_RESOLVED);
    createQueuePair(identifier);
    return identifier;
  }

  /** Connects to a peer that another thread or process accepts. */
  public ConnectionIdentifier connect(URI to, ConnectionParameters parameters)
      throws InterruptedException {
    ConnectionIdentifier identifier = resolve(to);
    identifier.connect(parameters, PATIENCE.toNanos());
    return identifier;
  }

  /** Waits for a request and creates its queue pair. */
  public ConnectionIdentifier request() throws InterruptedException {
    ConnectionIdentifier identifier = expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
    createQueuePair(identifier);
    return identifier;
  }

  /** Creates the queue pair of a connection. */
  public void createQueuePair(ConnectionIdentifier identifier) {
    identifier.createQueuePair(domain, QueuePairOptions.reliable(queue, queue, DEPTH, DEPTH));
  }

  /** Waits for the next event, which must be of this type. */
  public ConnectionEvent expect(ConnectionEvent.Type type) throws InterruptedException {
    ConnectionEvent event = awaitEvent();
    assertThat(event.type()).as("%s", event).isEqualTo(type);
    return event;
  }

  /** Waits for the next event. */
  public ConnectionEvent awaitEvent() throws InterruptedException {
    ConnectionEvent event = manager.await(PATIENCE.toNanos());
    assertThat(event).as("connection event within %s", PATIENCE).isNotNull();
    return Objects.requireNonNull(event);
  }

  /** Waits for the next completion, which is valid until the next call. */
  public WorkCompletion completion() throws InterruptedException {
    long start = System.nanoTime();
    while (queue.poll(one) == 0) {
      assertThat(System.nanoTime() - start)
          .as("nanoseconds without a completion")
          .isLessThan(PATIENCE.toNanos());
      // The other processes of the guest need its few CPUs.
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    return one[0];
  }

  /** Waits for the next completion, which must be a success. */
  public WorkCompletion success() throws InterruptedException {
    WorkCompletion completion = completion();
    assertThat(completion.isSuccess()).as("%s", completion).isTrue();
    return completion;
  }

  /** Posts a signaled request, with a part of the memory as its buffer. */
  public void post(QueuePair pair, SendWorkRequest request, int offset, int length) {
    pair.postSend(request.buffer(region.address() + offset, length, region.lkey()).signaled());
  }

  /** Posts a receive into a part of the memory. */
  public void receive(QueuePair pair, long id, int offset, int length) {
    pair.postReceive(
        new ReceiveWorkRequest().id(id).buffer(region.address() + offset, length, region.lkey()));
  }

  /** Returns the queue pair of a connection, which must have one. */
  public static QueuePair pairOf(ConnectionIdentifier identifier) {
    return Objects.requireNonNull(identifier.queuePair(), "queue pair");
  }

  /** Closes a connection and its queue pair. */
  public static void close(ConnectionIdentifier identifier) {
    QueuePair pair = identifier.queuePair();
    if (pair != null) {
      pair.close();
    }
    identifier.close();
  }

  @Override
  public void close() {
    region.close();
    manager.close();
    queue.close();
    domain.close();
    device.close();
  }
}
