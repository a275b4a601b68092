// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.jmh;

import io.verbena.benchmarks.verbena.MonoReads;
import io.verbena.benchmarks.verbena.ReactiveOneWay;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.MessageCheck;
import io.verbena.benchmarks.work.MessageSource;
import io.verbena.benchmarks.work.ReadCheck;
import io.verbena.benchmarks.work.ReadLayout;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Operations through {@code Mono} and {@code Flux}, many per invocation, on all threads. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ReactiveOperations {
  private static final int BATCH = 100_000;
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** Reads through {@code Mono}, one after the other. */
  @State(Scope.Thread)
  public static class Reads {
    private final ReadLayout layout = ReadLayout.of(4096);
    private final ReadCheck check = new ReadCheck(layout);
    private MonoReads reads;

    @Setup
    public void open() {
      reads = new MonoReads(layout, 1);
    }

    @TearDown
    public void close() {
      reads.close();
    }
  }

  /** Messages from {@code Flux} to {@code Flux}. */
  @State(Scope.Thread)
  public static class Messages {
    /** Bytes of a message. */
    @Param({"64", "65536"})
    public int size;

    private MessageSource source;
    private MessageCheck check;
    private ReactiveOneWay messages;

    @Setup
    public void open() {
      source = new MessageSource(size);
      check = new MessageCheck(size);
      messages = new ReactiveOneWay(size);
    }

    @TearDown
    public void close() {
      messages.close();
    }
  }

  /** A read of 4 KiB. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void read(Reads state) throws Exception {
    state.reads.read(BATCH, state.check, Deadline.in(LIMIT));
  }

  /** A message. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void message(Messages state) throws Exception {
    state.messages.transfer(BATCH, state.source, state.check, Deadline.in(LIMIT));
  }
}
