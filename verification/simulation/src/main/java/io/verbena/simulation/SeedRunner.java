// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation;

import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.RunResult;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Runs the scenarios of consecutive seeds on several threads until one fails or all have run. */
final class SeedRunner {
  private static final long NONE = Long.MAX_VALUE;

  private final Program program;
  private final long first;
  private final long count;
  private final AtomicLong next = new AtomicLong();
  private final AtomicLong failed = new AtomicLong(NONE);
  private final LongAdder completed = new LongAdder();
  private final LongAdder packets = new LongAdder();
  private final LongAdder injectedFaults = new LongAdder();
  private final LongAdder cpuNanos = new LongAdder();
  private volatile @Nullable Throwable failure;
  private volatile boolean stopped;

  /** Creates a runner for the seeds from {@code first} to {@code first + count - 1}. */
  SeedRunner(Program program, long first, long count) {
    this.program = program;
    this.first = first;
    this.count = count;
  }

  /**
   * Runs the scenarios. Blocks until all workers have ended; if it is interrupted, or {@code
   * progress} throws, they end with the scenarios that are running.
   *
   * @param threads the number of worker threads
   * @param progress called about once a second with the number of scenarios that have run
   * @return the lowest seed that failed among those that ran, or null if none failed
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
    } finally {
      stop();
    }
    long seed = failed.get();
    return seed == NONE ? null : first + seed;
  }

  /** Starts no further scenarios; those that are running finish. */
  void stop() {
    stopped = true;
  }

  /** Returns what a scenario failed with, or null if none has failed. */
  @Nullable Throwable failure() {
    return failure;
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

  /** The CPU time of all workers, once {@link #run} has returned; not that of the compiler. */
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
    while (number < count && failed.get() == NONE && !stopped) {
      boolean success = false;
      try {
        RunResult result = program.generate(first + number).run(arena, null, null);
        success = result.isSuccess();
        failure = success ? failure : result.failure();
        packets.add(result.packets());
        injectedFaults.add(result.injectedFaults());
        completed.increment();
      } finally {
        if (!success) {
          failed.accumulateAndGet(number, Math::min);
        }
      }
      number = next.getAndIncrement();
    }
  }
}
