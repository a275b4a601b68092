// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import static java.util.Objects.requireNonNull;

import io.verbena.RdmaOptions;
import io.verbena.core.cm.ConnectionEventDispatcher;
import io.verbena.core.device.OpenedDevice;
import io.verbena.core.event.LoopStallEvent;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.DutyCycleInvoker;
import io.verbena.core.loop.HeldUp;
import io.verbena.core.memory.DirectMemory;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.meters.Credit;
import io.verbena.reactor.connection.ConnectionContext;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.reactor.queue.LoopResources;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Schedulers;
import reactor.util.Logger;
import reactor.util.Loggers;

/**
 * An opened device and the completion loops of its connections. A loop that broke down is replaced
 * by the next connection that is assigned to it. Thread-safe, except {@link #close}.
 */
final class DeviceLoops {
  /** Time in nanoseconds that closing waits for a thread to end, beyond {@code closeTimeout}. */
  private static final long GRACE = TimeUnit.SECONDS.toNanos(5);

  private static final String THREADS = "verbena";

  /**
   * Capacity of the queue of allocations of long buffers; each connection waits for one at most.
   */
  private static final int MOST_ALLOCATIONS = 1024;

  private static final long IDLE_SECONDS = 5;

  private static final Logger LOG = Loggers.getLogger(DeviceLoops.class);

  private final String provider;
  private final RdmaOptions options;
  private final OpenedDevice opened;
  private final @Nullable DutyCycleInvoker invoker;
  private final Executor allocations;
  private final @Nullable ExecutorService ownAllocations;
  private final List<ConnectionContext> contexts = new CopyOnWriteArrayList<>();
  private final List<CompletionLoop> brokenLoops = new ArrayList<>();
  private final AtomicInteger next = new AtomicInteger();
  private final @Nullable LoopWatchdog watchdog;
  private boolean closing;

  /** Whether a call of {@link #close} has thrown the failure of a loop. */
  private boolean isReported;

  /**
   * Takes ownership of an open device and starts its loops; closes the device if that fails.
   *
   * @param provider the scheme of the device's addresses
   * @param invoker invokes the duty cycles of loops and dispatcher in place of threads, or null
   * @param allocations runs allocations that would take a loop too long; null for a thread of its
   *     own
   * @param direct allocates the memory to register
   */
  DeviceLoops(
      String provider,
      Device device,
      RdmaOptions options,
      @Nullable DutyCycleInvoker invoker,
      @Nullable Executor allocations,
      DirectMemory direct) {
    this.provider = provider;
    this.options = options;
    this.invoker = invoker;
    opened =
        new OpenedDevice(
            THREADS,
            "reactor",
            provider,
            device,
            options,
            EnumSet.allOf(Credit.class),
            invoker,
            direct);
    ownAllocations =
        allocations == null ? newThread(THREADS + '-' + device.attributes().name()) : null;
    this.allocations = allocations == null ? requireNonNull(ownAllocations) : allocations;
    try {
      for (int i = 0; i < options.loops(); i++) {
        contexts.add(newContext(i));
      }
      opened.dispatcher().start();
      if (contexts.get(0).needsEvents()) {
        opened.events().start();
      }
      for (ConnectionContext context : contexts) {
        context.loop().start();
      }
      long stall = options.stallWarning().toNanos();
      watchdog =
          invoker != null || stall == 0
              ? null
              : new LoopWatchdog(
                  THREADS + '-' + device.attributes().name() + "-watchdog",
                  stall,
                  this::loops,
                  new StallReport());
    } catch (Throwable e) {
      giveUp(e);
      throw e;
    }
  }

  /** Closes the device after {@code why} kept its loops from starting. */
  private void giveUp(Throwable why) {
    try {
      closing = true;
      for (ConnectionContext context : contexts) {
        CompletionLoop loop = context.loop();
        loop.stop();
        loop.join(GRACE);
        opened.closeFirst().add("completion queues", loop::closeQueues);
      }
      opened.close(GRACE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      why.addSuppressed(e);
    } catch (RuntimeException e) {
      why.addSuppressed(e);
    }
  }

  /** Returns an executor with one thread, which ends when it is idle. */
  private static ExecutorService newThread(String device) {
    ThreadPoolExecutor executor =
        new ThreadPoolExecutor(
            1,
            1,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MOST_ALLOCATIONS),
            work -> {
              // Without thread locals and class loader of the caller: the thread would keep them
              // reachable.
              Thread thread = new Thread(null, work, device + "-memory", 0, false);
              thread.setDaemon(true);
              thread.setContextClassLoader(DeviceLoops.class.getClassLoader());
              return thread;
            });
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }

  /** Logs each report of the watchdog; counts a stall once in the meter and Flight Recorder. */
  private final class StallReport implements LoopWatchdog.Report {
    @Override
    public void heldUp(HeldUp loop, boolean again, String message) {
      LOG.warn(message);
      if (!again) {
        LoopStallEvent.emit(loop.loop(), loop.nanos());
        opened.meter().loopStalled(loop.nanos());
      }
    }

    @Override
    public void goesOn(HeldUp loop, String message) {
      LOG.warn(message);
    }

    @Override
    public void signalLate(Runnable late) {
      try {
        Schedulers.boundedElastic().schedule(late);
      } catch (Throwable e) {
        // The scheduler has no free thread and the loop is held up: no thread is left to signal the
        // error. The watchdog continues.
        FailureGuard.drop(e);
      }
    }
  }

  private ConnectionContext newContext(int index) {
    Device device = opened.device();
    String name = THREADS + '-' + device.attributes().name() + "-loop-" + index;
    CompletionLoop loop =
        new CompletionLoop(
            work -> LoopThread.create(work, name), device, options, invoker, opened.meter());
    loop.atEnd(() -> reportBreakdown(name, loop.brokenBy()));
    return new ConnectionContext(
        provider,
        opened.dispatcher(),
        opened.events(),
        new LoopResources(
            loop, opened.memory(), options, opened.meter(), opened.closeFirst(), allocations),
        opened.domain(),
        options);
  }

  private static void reportBreakdown(String name, @Nullable Throwable cause) {
    if (cause != null) {
      LOG.error(
          "completion loop " + name + " broke down: its connections failed, another replaces it",
          cause);
    }
  }

  RegisteredMemory memory() {
    return opened.memory();
  }

  ConnectionEventDispatcher dispatcher() {
    return opened.dispatcher();
  }

  /** Returns whether the device has failed; it is then unusable and may be opened again. */
  boolean haveFailed() {
    return opened.dispatcher().hasFailed();
  }

  /**
   * Returns the context for the next connection: round-robin over the loops, skipping those that
   * are held up.
   *
   * @throws VerbsException if the loop broke down and the device has no resources for another one
   */
  ConnectionContext context() {
    int loops = contexts.size();
    int index = Math.floorMod(next.getAndIncrement(), loops);
    for (int more = 1; more < loops && isHeldUp(index); more++) {
      index = Math.floorMod(next.getAndIncrement(), loops);
    }
    ConnectionContext context = contexts.get(index);
    return context.loop().brokenBy() == null ? context : replace(index);
  }

  private boolean isHeldUp(int index) {
    LoopWatchdog watching = watchdog;
    return watching != null && watching.isHeldUp(contexts.get(index).loop());
  }

  private synchronized ConnectionContext replace(int index) {
    ConnectionContext context = contexts.get(index);
    if (context.loop().brokenBy() == null || closing) {
      return context;
    }
    ConnectionContext replacement = newContext(index);
    try {
      replacement.loop().start();
    } catch (Throwable e) {
      // No thread could be started: the next connection tries again.
      opened.closeFirst().add("completion queues", replacement.loop()::closeQueues);
      throw e;
    }
    brokenLoops.add(context.loop());
    contexts.set(index, replacement);
    LoopWatchdog watching = watchdog;
    if (watching != null) {
      watching.wakeUp();
    }
    return replacement;
  }

  private synchronized List<CompletionLoop> loops() {
    List<CompletionLoop> all = new ArrayList<>(brokenLoops);
    contexts.forEach(context -> all.add(context.loop()));
    return all;
  }

  boolean inLoop() {
    for (CompletionLoop loop : loops()) {
      if (loop.inLoop()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Closes connections, loops, memory and device; a further call closes what an earlier one left
   * open. The caller closes the listeners first, and makes one call at a time.
   *
   * @throws VerbsException if something is left open, or a loop could not free all
   */
  void close() throws InterruptedException {
    boolean begins;
    synchronized (this) {
      begins = !closing;
      closing = true;
    }
    List<CompletionLoop> loops = loops();
    if (begins) {
      loops.forEach(CompletionLoop::stop);
    }
    closeAll(loops);
  }

  /** Returns how long closing waits for each thread to end, in nanoseconds. */
  static long patience(RdmaOptions options) {
    return Math.min(options.closeTimeout().toNanos(), Long.MAX_VALUE - GRACE) + GRACE;
  }

  private void closeAll(List<CompletionLoop> loops) throws InterruptedException {
    long patience = patience(options);
    for (CompletionLoop loop : loops) {
      if (!loop.join(patience)) {
        throw new VerbsException(
            VerbsError.BUSY,
            "close: a completion loop is held up by a subscriber; nothing that it may use was"
                + " closed, try again when it has returned");
      }
    }
    LoopWatchdog watching = watchdog;
    if (watching != null) {
      // Only now: the watchdog alone fails the operations that wait for a loop that is held up.
      watching.close();
    }
    ExecutorService allocating = ownAllocations;
    if (allocating != null) {
      // Queued allocations are for connections that have ended; a running one registers memory.
      allocating.shutdownNow();
      if (!allocating.awaitTermination(patience, TimeUnit.NANOSECONDS)) {
        throw new VerbsException(
            VerbsError.BUSY, "close: memory is being registered; try again when that has ended");
      }
    }
    for (CompletionLoop loop : loops) {
      opened.closeFirst().add("completion queues", loop::closeQueues);
    }
    opened.close(patience);
    Throwable failure = isReported ? null : failureOf(loops);
    if (failure != null) {
      isReported = true;
      throw new VerbsException(
          VerbsError.IO, "close: a completion loop could not free all", failure);
    }
  }

  private static @Nullable Throwable failureOf(List<CompletionLoop> loops) {
    Throwable failure = null;
    for (CompletionLoop loop : loops) {
      failure = failure == null ? loop.failure() : failure;
    }
    return failure;
  }
}
