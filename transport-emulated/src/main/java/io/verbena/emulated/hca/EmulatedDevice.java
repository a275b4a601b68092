// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.Device;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PortAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.OpenCount;
import io.verbena.verbs.provider.QueuePairListeners;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An HCA in software: its limits, its keys, its queue pairs, and the timer of its retries. */
public final class EmulatedDevice implements Device {
  /** The name of a device, unless its fabric defines another. */
  public static final String NAME = "emulated0";

  /** The largest packet, unless the fabric defines another. */
  public static final Mtu MTU = Mtu.MTU_4096;

  /** The maximum number of buffers of a work request. */
  public static final int MAX_SCATTER_GATHER = 32;

  private static final int MAX_EVENTS = 4096;
  private static final long TIMER_IDLE_SECONDS = 5;

  /** The kinds of objects that a device owns. */
  enum Kind {
    PROTECTION_DOMAIN,
    COMPLETION_QUEUE,
    COMPLETION_CHANNEL,
    CONNECTION_MANAGER
  }

  /**
   * Makes threads that wait for an event of a closed device return; each thread queues it again for
   * the next.
   */
  private static final AsyncEvent CLOSED =
      new AsyncEvent(AsyncEvent.Type.DEVICE_FATAL, new Object());

  private final Fabric fabric;
  private final DeviceAttributes attributes;
  private final EmulatedCounters counters;
  private final Gid gid;
  private final OpenCount<Kind> open = new OpenCount<>(Kind.class);

  /** Counts the objects of all domains of the device together. */
  private final OpenCount<EmulatedProtectionDomain.Kind> held =
      new OpenCount<>(EmulatedProtectionDomain.Kind.class);

  private final KeyTable keys = new KeyTable();
  private final AtomicLong nextAddress;

  /**
   * The device's queue pairs. Pairs are added under the table's monitor, so that no two have the
   * same number.
   */
  private final QueuePairTable queuePairs = new QueuePairTable();

  private final LinkedBlockingQueue<AsyncEvent> events = new LinkedBlockingQueue<>(MAX_EVENTS + 1);
  private final ScheduledThreadPoolExecutor timer;
  private final ConnectionManagerFactory managers;
  private final Set<DeviceListener> listeners = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean broken = new AtomicBoolean();

  private EmulatedDevice(
      Fabric fabric, DeviceAttributes attributes, ConnectionManagerFactory managers) {
    this.fabric = fabric;
    this.attributes = attributes;
    this.managers = managers;
    counters = new EmulatedCounters(fabric.counted());
    gid = fabric.nextGid();
    nextAddress = new AtomicLong((fabric.secrets().nextLong() >>> 20) & -4096L);
    timer =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, fabric.deviceName() + "-retry-timer");
              thread.setDaemon(true);
              return thread;
            });
    timer.setKeepAliveTime(TIMER_IDLE_SECONDS, TimeUnit.SECONDS);
    timer.allowCoreThreadTimeOut(true);
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    timer.setRemoveOnCancelPolicy(true);
  }

  /**
   * Opens a device.
   *
   * @param managers creates the device's connection managers
   */
  public static EmulatedDevice open(
      Fabric fabric, DeviceAttributes attributes, ConnectionManagerFactory managers) {
    EmulatedDevice device = new EmulatedDevice(fabric, attributes, managers);
    fabric.plug(device);
    return device;
  }

  /** Returns the device's name, as in its attributes. */
  public String name() {
    return fabric.deviceName();
  }

  public Fabric fabric() {
    return fabric;
  }

  /** Returns the device's address on the fabric. */
  public Gid gid() {
    return gid;
  }

  OpenCount<EmulatedProtectionDomain.Kind> held() {
    return held;
  }

  KeyTable keys() {
    return keys;
  }

  @Override
  public DeviceAttributes attributes() {
    return attributes;
  }

  @Override
  public boolean hasCostlyPosts() {
    return fabric.hasCostlyPosts();
  }

  @Override
  public ByteBuffer allocateMemory(int length) {
    return fabric.allocateMemory(length);
  }

  @Override
  public boolean prefersOwnMemory() {
    return fabric.prefersOwnMemory();
  }

  @Override
  public PortAttributes port() {
    return new PortAttributes(!broken.get(), fabric.mtu(), fabric.mtu(), List.of(gid));
  }

  /**
   * Makes the device fail permanently, as if it were pulled out. The caller must hold no lock of a
   * connection or a queue pair.
   *
   * @return whether this call was the first
   */
  public boolean breakDown() {
    if (!broken.compareAndSet(false, true)) {
      return false;
    }
    queuePairs.forEach(EmulatedQueuePair::fail);
    listeners.forEach(DeviceListener::deviceFailed);
    synchronized (events) {
      // There is a place, unless the device is closed, where nobody needs the event.
      boolean unused = events.offer(new AsyncEvent(AsyncEvent.Type.DEVICE_FATAL, null));
    }
    return true;
  }

  /** Returns whether the device has failed permanently. */
  public boolean isBroken() {
    return broken.get();
  }

  /**
   * Checks that the device has not failed, for a verb that needs the hardware.
   *
   * @throws VerbsException {@code IO} once the device has failed
   */
  public void requireWhole(String verb) {
    if (broken.get()) {
      throw new VerbsException(
          VerbsError.IO, verb + ": device " + name() + " has failed (DEVICE_FATAL)");
    }
  }

  @Override
  public EmulatedCounters counters() {
    return counters;
  }

  @Override
  public EmulatedProtectionDomain allocateProtectionDomain() {
    requireWhole("allocate protection domain");
    open.opened(Kind.PROTECTION_DOMAIN, attributes.maxProtectionDomains());
    return new EmulatedProtectionDomain(this);
  }

  @Override
  public EmulatedCompletionChannel createCompletionChannel() {
    requireWhole("create completion channel");
    open.opened(Kind.COMPLETION_CHANNEL, Integer.MAX_VALUE);
    return new EmulatedCompletionChannel(this);
  }

  @Override
  public EmulatedCompletionQueue createCompletionQueue(
      int depth, @Nullable CompletionChannel channel, boolean singleThreaded) {
    requireWhole("create completion queue");
    if (depth < 1 || depth > attributes.maxCompletions()) {
      throw new VerbsException(
          VerbsError.INVALID,
          "create completion queue: depth: "
              + depth
              + " (expected: 1.."
              + attributes.maxCompletions()
              + ")");
    }
    EmulatedCompletionChannel own = null;
    if (channel != null) {
      if (!(channel instanceof EmulatedCompletionChannel ours) || ours.device() != this) {
        throw new VerbsException(
            VerbsError.INVALID, "create completion queue: the channel is another device's");
      }
      own = ours;
    }
    open.opened(Kind.COMPLETION_QUEUE, attributes.maxCompletionQueues());
    if (own != null && !own.attach()) {
      open.closed(Kind.COMPLETION_QUEUE);
      throw new VerbsException(VerbsError.CLOSED, "create completion queue: the channel is closed");
    }
    return new EmulatedCompletionQueue(this, depth, own, singleThreaded);
  }

  @Override
  public ConnectionManager createConnectionManager() {
    requireWhole("create connection manager");
    open.opened(Kind.CONNECTION_MANAGER, Integer.MAX_VALUE);
    return managers.create(this);
  }

  /** Adds a listener for the failure and the closing of the device. */
  public void addListener(DeviceListener listener) {
    listeners.add(listener);
  }

  /** Removes a listener. */
  public void removeListener(DeviceListener listener) {
    listeners.remove(listener);
  }

  @Override
  public @Nullable AsyncEvent awaitAsyncEvent(long timeoutNanos) throws InterruptedException {
    AsyncEvent event = events.poll(Math.max(0, timeoutNanos), TimeUnit.NANOSECONDS);
    if (CLOSED.equals(event) && !events.offer(CLOSED)) {
      throw new AssertionError("the queue of a closed device is full");
    }
    return CLOSED.equals(event) ? null : event;
  }

  /**
   * Queues an event for the program. If the program has left the queue full, drops the event: the
   * last place is kept for the failure of the device.
   */
  public void raise(AsyncEvent.Type type, Object source) {
    synchronized (events) {
      if (events.remainingCapacity() > 1) {
        events.add(new AsyncEvent(type, source));
      }
    }
  }

  /** Runs a task after a delay, in the fabric's time. */
  public Scheduled schedule(Runnable task, long delayNanos) {
    return fabric.schedule(this, task, delayNanos);
  }

  /** Runs a task after a delay of the clock, on the device's timer thread. */
  Scheduled scheduleByClock(Runnable task, long delayNanos) {
    if (timer.isShutdown()) {
      return () -> {};
    }
    Future<?> set = timer.schedule(() -> runAndLogFailure(task), delayNanos, TimeUnit.NANOSECONDS);
    return () -> set.cancel(false);
  }

  /** Runs a task and logs its failure, which the executor would only keep in the task's future. */
  private static void runAndLogFailure(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      FailureLog.get().failed(e);
    }
  }

  void closed(Kind kind) {
    open.closed(kind);
  }

  /** Called when a connection manager was closed. */
  public void connectionManagerClosed() {
    closed(Kind.CONNECTION_MANAGER);
  }

  /**
   * Reserves {@code length} addresses that were never used before, and returns the first one, which
   * begins a page.
   */
  long reserveAddresses(int length, int page) {
    long span = ((long) length + 3L * page) & -page;
    return nextAddress.getAndAdd(span);
  }

  /** Waits for threads and peers that may still use a killed key. */
  void awaitCopies(KeyEntry dead) {
    if (dead.isShared()) {
      fabric.withdraw(dead);
    }
    fabric.awaitCopies();
  }

  /**
   * Calls an action with each of its queue pairs. A queue pair that is being closed is included
   * until all its work has ended.
   */
  public void forEachQueuePair(Consumer<EmulatedQueuePair> action) {
    queuePairs.forEach(action);
  }

  /** Returns the open queue pair with this number, or null; takes no lock. */
  public @Nullable EmulatedQueuePair queuePair(int number) {
    return queuePairs.find(number);
  }

  EmulatedQueuePair addQueuePair(EmulatedProtectionDomain domain, QueuePairOptions options) {
    synchronized (queuePairs) {
      int number;
      do {
        number = fabric.secrets().next24Bits();
      } while (number < 2 || queuePairs.find(number) != null || !fabric.takeNumber(number));
      boolean made = false;
      try {
        EmulatedQueuePair pair = fabric.createQueuePair(domain, number, options);
        pair.attach();
        made = true;
        queuePairs.add(pair);
        QueuePairListeners.opened(pair);
        return pair;
      } finally {
        if (!made) {
          fabric.giveNumber(number);
        }
      }
    }
  }

  void removeQueuePair(EmulatedQueuePair pair) {
    QueuePairListeners.closed(pair);
    queuePairs.remove(pair);
    fabric.giveNumber(pair.number());
  }

  @Override
  public void close() {
    if (open.close("device " + name())) {
      try {
        listeners.forEach(listener -> listener.deviceClosed(this));
        fabric.unplug(this);
      } finally {
        timer.shutdownNow();
        events.drainTo(new ArrayList<>());
        events.add(CLOSED);
      }
    }
  }
}
