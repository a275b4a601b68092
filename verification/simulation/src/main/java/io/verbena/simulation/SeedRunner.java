package io.verbena.simulation;

import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.RunResult;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Makes the runs of many seeds, on several threads, until one fails or all are done. */
final class SeedRunner {
  private static final long NONE = Long.MAX_VALUE;

  private final Program program;
  private final long first;
  private final long count;
  private final AtomicLong next = new AtomicLong();
  private final AtomicLong failed = new AtomicLong(NONE);
  private final LongAdder done = new LongAdder();
  private final LongAdder packets = new LongAdder();
  private final LongAdder strikes = new LongAdder();
  private volatile boolean stopped;

  /** The seeds from {@code first} on. */
  SeedRunner(Program program, long first, long count) {
    this.program = program;
    this.first = first;
    this.count = count;
  }

  /**
   * Runs them.
   *
   * @param threads how many threads work
   * @param progress told now and then how many are done
   * @return the lowest seed that failed, of those that were run; null if none did
   */
  @Nullable Long run(int threads, LongConsumer progress) throws InterruptedException {
    List<Thread> workers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Thread worker = new Thread(this::work, "simulation-" + i);
      worker.setDaemon(true);
      worker.start();
      workers.add(worker);
    }
    for (Thread worker : workers) {
      while (worker.isAlive()) {
        worker.join(1000);
        progress.accept(done.sum());
      }
    }
    long seed = failed.get();
    return seed == NONE ? null : first + seed;
  }

  /** Lets the runs that are on end, and begins no more. */
  void stop() {
    stopped = true;
  }

  long done() {
    return done.sum();
  }

  long packets() {
    return packets.sum();
  }

  long strikes() {
    return strikes.sum();
  }

  private void work() {
    Arena arena = new Arena();
    long number = next.getAndIncrement();
    while (number < count && failed.get() == NONE && !stopped) {
      boolean good = false;
      try {
        RunResult outcome = program.of(first + number).run(arena, null, null);
        good = outcome.isGood();
        packets.add(outcome.packets());
        strikes.add(outcome.strikes());
        done.increment();
      } finally {
        if (!good) {
          failed.accumulateAndGet(number, Math::min);
        }
      }
      number = next.getAndIncrement();
    }
  }
}
