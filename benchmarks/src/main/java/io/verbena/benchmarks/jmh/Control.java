// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.jmh;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A control for JMH's allocation profiler: an operation that only spins, as slow as the measured
 * one. JMH itself allocates some memory per iteration, which the profiler divides by the
 * operations.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class Control {
  /** Nanoseconds of an operation; about the time of one on Soft-RoCE under emulation. */
  @Param("100000")
  public long nanos;

  /** Spins for {@link #nanos}. */
  @Benchmark
  public long spin() {
    long end = System.nanoTime() + nanos;
    long now = System.nanoTime();
    while (now - end < 0) {
      now = System.nanoTime();
    }
    return now;
  }
}
