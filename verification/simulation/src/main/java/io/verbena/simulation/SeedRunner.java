// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation;

import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.RunResult;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Runs the scenarios of consecutive seeds on several threads until one fails or all have run. */
final class SeedRunner {
  private final SeedRun run;
  private final long first;
  private final long count;
  private final AtomicLong next = new AtomicLong();
  private final AtomicReference<@Nullable Failure> failed = new AtomicReference<>();
  private final Set<Long> running = ConcurrentHashMap.newKeySet();
  private final LongAdder completed = new LongAdder();
  private final LongAdder packets = new LongAdder();
  private final LongAdder injectedFaults = new LongAdder();
  private final LongAdder cpuNanos = new LongAdder();
  private volatile boolean stopped;

  /** Creates a runner for the seeds from {@code first} to {@code first + count - 1}. */
  SeedRunner(Program program, long first, long count) {
    this((seed, arena) -> program.generate(seed).run(arena, null, null), first, count);
  }

  SeedRunner(SeedRun run, long first, long count) {
    this.run = run;
    this.first = first;
    this.count = count;
  }

  /**
   * Runs the scenarios. Blocks until all workers have ended; if the calling thread is interrupted
   * or {@code progress} throws, the workers finish their running scenarios and end.
   *
   * @param threads the number of worker threads
   * @param progress called about once a second with the number of scenarios that have run
   * @return the lowest seed that failed among those that ran, or null if none failed
   * @throws InterruptedException with a message that names the seeds that are running
   */
  @Nullable Long run(int threads, LongConsumer progress) throws InterruptedException {
    List<Thread> workers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Thread worker = new Thread(this::work, "simulation-" + i);
      worker.setDaemon(true);
      worker.start();
      workers.add(worker);
    }
    try {
      for (Thread worker : workers) {
        while (worker.isAlive()) {
          worker.join(1000);
          progress.accept(completed.sum());
        }
      }
    } catch (InterruptedException e) {
      var named = new InterruptedException("interrupted while seeds ran: " + running());
      named.initCause(e);
      throw named;
    } finally {
      stop();
    }
    Failure failure = failed.get();
    return failure == null ? null : failure.seed;
  }

  /** Starts no further scenarios; those that are running finish. */
  void stop() {
    stopped = true;
  }

  /** Returns the failure of the lowest seed that failed, or null if none has failed. */
  @Nullable Throwable failure() {
    Failure failure = failed.get();
    return failure == null ? null : failure.cause;
  }

  /** Returns the seeds whose scenarios are running, the lowest first. */
  SortedSet<Long> running() {
    return new TreeSet<>(running);
  }

  long completed() {
    return completed.sum();
  }

  long packets() {
    return packets.sum();
  }

  long injectedFaults() {
    return injectedFaults.sum();
  }

  /** Returns the CPU seconds of all workers, without the JIT compiler, after {@link #run}. */
  double cpuSeconds() {
    return cpuNanos.sum() / 1e9;
  }

  private void work() {
    try {
      runSeeds();
    } finally {
      cpuNanos.add(ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime());
    }
  }

  private void runSeeds() {
    Arena arena = new Arena();
    long number = next.getAndIncrement();
    while (number < count && failed.get() == null && !stopped) {
      long seed = first + number;
      Throwable cause;
      running.add(seed);
      try {
        RunResult result = run.run(seed, arena);
        packets.add(result.packets());
        injectedFaults.add(result.injectedFaults());
        completed.increment();
        cause = result.failure();
      } catch (Throwable e) {
        cause = e;
      } finally {
        running.remove(seed);
      }
      if (cause != null) {
        Failure failure = new Failure(seed, cause);
        failed.accumulateAndGet(
            failure, (before, now) -> before == null || now.seed < before.seed ? now : before);
      }
      number = next.getAndIncrement();
    }
  }

  /** Runs the scenario of a seed. Called by several threads, each with an arena of its own. */
  @FunctionalInterface
  interface SeedRun {
    RunResult run(long seed, Arena arena);
  }

  private record Failure(long seed, Throwable cause) {}
}
