// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.address.DisniAddress;
import io.verbena.disni.core.RdmaCore;
import io.verbena.verbs.Access;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.Device;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.DeviceCounters;
import io.verbena.verbs.PortAttributes;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.OpenCount;
import io.verbena.verbs.provider.Range;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A device as one caller has opened it. Other callers in this process may have opened the same
 * device; they share its {@link DisniContext}.
 */
final class DisniDevice implements Device {
  private static final int MAX_EVENTS = 4096;
  private static final long SLICE_NANOS = 100_000_000;

  /**
   * {@code IBV_ACCESS_RELAXED_ORDERING}, an optional flag: drivers that do not know it ignore it.
   */
  private static final int RELAXED_ORDERING = 1 << 20;

  /** The objects that a device owns. */
  enum Kind {
    PROTECTION_DOMAIN,
    COMPLETION_QUEUE,
    COMPLETION_CHANNEL,
    CONNECTION_MANAGER
  }

  private final RdmaCore core;
  private final DisniContext context;
  private final DisniPort port;
  private final HardwareCounters counters;
  private final @Nullable InetAddress source;
  private final DisniAddress opened;
  private final OpenCount<Kind> open = new OpenCount<>(Kind.class);
  private final ArrayBlockingQueue<AsyncEvent> events = new ArrayBlockingQueue<>(MAX_EVENTS);
  private final CopyOnWriteArrayList<DisniConnectionManager> managers =
      new CopyOnWriteArrayList<>();

  /**
   * @param port the port that the device is opened on
   * @param source the address to connect from, or null to leave it to the route
   * @param opened the parsed address by which the device was opened
   */
  DisniDevice(
      RdmaCore core,
      DisniContext context,
      DisniPort port,
      @Nullable InetAddress source,
      DisniAddress opened) {
    this.core = core;
    this.context = context;
    this.port = port;
    counters = port.counters();
    this.source = source;
    this.opened = opened;
    context.add(this);
  }

  DisniContext context() {
    return context;
  }

  /** Returns the port that the device was opened on. */
  DisniPort at() {
    return port;
  }

  /**
   * Returns whether an identifier is bound to this device. The port must match too if one of the
   * addresses names a port, and for datagrams, because address handles belong to a port.
   *
   * @param asked the address to listen on or to connect to
   */
  boolean has(long identifier, PortSpace space, DisniAddress asked) {
    boolean byPort =
        space == PortSpace.UDP
            || opened.port() != DisniAddress.UNSET
            || asked.port() != DisniAddress.UNSET;
    return core.contextOf(identifier) == context.pointer()
        && (!byPort || core.portOf(identifier) == port.number());
  }

  RdmaCore core() {
    return core;
  }

  @Nullable InetAddress source() {
    return source;
  }

  /** Returns the index of the GID for queue pairs, or {@link DisniAddress#UNSET}. */
  int gid() {
    return opened.gid();
  }

  /**
   * Returns the access flags of a region, with the flag for relaxed ordering if the address has it.
   */
  int accessFlags(Set<Access> access) {
    return Access.bits(access) | (opened.relaxedOrdering() ? RELAXED_ORDERING : 0);
  }

  /**
   * Sets event moderation on a completion queue, if the address has {@code cq-count} and {@code
   * cq-period}.
   */
  void moderate(long queue) {
    if (opened.cqCount() != DisniAddress.UNSET) {
      String asked = "cq-count: " + opened.cqCount() + ", cq-period: " + opened.cqPeriod();
      Errno.check(
          "moderate completion queue of " + context.name() + ", " + asked,
          core.moderate(queue, opened.cqCount(), opened.cqPeriod()));
    }
  }

  /** Returns the completion vector of the next channel, which all its completion queues use. */
  private int nextVector() {
    return opened.vector() == DisniAddress.UNSET ? context.nextVector() : opened.vector();
  }

  @Override
  public DeviceAttributes attributes() {
    return context.attributes();
  }

  @Override
  public PortAttributes port() {
    return port.attributes();
  }

  @Override
  public int portCount() {
    return context.ports();
  }

  /** {@inheritDoc} Each post is a native call, which rings the doorbell. */
  @Override
  public boolean hasCostlyPosts() {
    return true;
  }

  @Override
  public DeviceCounters counters() {
    return counters;
  }

  @Override
  public DisniProtectionDomain allocateProtectionDomain() {
    return open.create(
        Kind.PROTECTION_DOMAIN,
        attributes().maxProtectionDomains(),
        () -> new DisniProtectionDomain(this, pointer(() -> core.allocPd(context.pointer()))));
  }

  @Override
  public DisniCompletionChannel createCompletionChannel() {
    return open.create(
        Kind.COMPLETION_CHANNEL,
        Integer.MAX_VALUE,
        () ->
            NativeObject.own(
                "destroy completion channel",
                pointer(() -> core.createCompChannel(context.pointer())),
                made -> new DisniCompletionChannel(this, made, nextVector()),
                core::destroyCompletionChannel));
  }

  @Override
  public DisniCompletionQueue createCompletionQueue(
      int depth, @Nullable CompletionChannel channel, boolean singleThreaded) {
    Range.check("create completion queue", "depth", depth, 1, attributes().maxCompletions());
    DisniCompletionChannel own = null;
    if (channel != null) {
      if (!(channel instanceof DisniCompletionChannel ours) || ours.device() != this) {
        throw new VerbsException(
            VerbsError.INVALID, "create completion queue: the channel is another device's");
      }
      own = ours;
    }
    DisniCompletionChannel attached = own;
    return open.create(
        Kind.COMPLETION_QUEUE,
        attributes().maxCompletionQueues(),
        () -> DisniCompletionQueue.create(this, depth, attached, singleThreaded));
  }

  @Override
  public DisniConnectionManager createConnectionManager() {
    return open.create(
        Kind.CONNECTION_MANAGER,
        Integer.MAX_VALUE,
        () ->
            NativeObject.own(
                "destroy event channel",
                pointer(() -> core.createEventChannel()),
                made -> new DisniConnectionManager(this, made),
                core::destroyEventChannel));
  }

  /** A call that creates a native object and returns its pointer. */
  private interface Creation {
    long create() throws IOException;
  }

  private long pointer(Creation creation) {
    try {
      return creation.create();
    } catch (IOException e) {
      throw Errno.failure("device " + context.name(), e);
    }
  }

  void closed(Kind kind) {
    open.closed(kind);
  }

  void opened(DisniConnectionManager manager) {
    managers.add(manager);
  }

  void closed(DisniConnectionManager manager) {
    managers.remove(manager);
    open.closed(Kind.CONNECTION_MANAGER);
  }

  /** Wakes the threads that wait for connection events, because the device has failed. */
  void wakeManagers() {
    managers.forEach(DisniConnectionManager::deviceFailed);
  }

  @Override
  public @Nullable AsyncEvent awaitAsyncEvent(long timeoutNanos) throws InterruptedException {
    long start = System.nanoTime();
    long left = Math.max(0, timeoutNanos);
    while (true) {
      AsyncEvent event = events.poll();
      if (event != null || open.isClosed()) {
        return event;
      }
      if (!context.readEvent(left)) {
        event = events.poll(Math.min(SLICE_NANOS, left), TimeUnit.NANOSECONDS);
        if (event != null) {
          return event;
        }
      }
      if (Thread.interrupted()) {
        throw new InterruptedException("await asynchronous event");
      }
      left = Math.max(0, timeoutNanos - (System.nanoTime() - start));
      if (left == 0) {
        return events.poll();
      }
    }
  }

  /** Queues an event for {@link #awaitAsyncEvent}; drops it if 4096 events are waiting already. */
  void raise(AsyncEvent event) {
    boolean unused = events.offer(event);
  }

  @Override
  public void close() {
    if (open.close("device " + context.name())) {
      context.remove(this);
    }
  }
}
