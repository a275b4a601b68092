// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** Measurements, with warm-up and repetitions, of each kind of participant. */
public final class Measures {
  private static final double NOT_MEASURED = Double.NaN;

  /** The fewest round trips that have a 99.9th percentile. */
  private static final int FEWEST_FOR_TAIL = 1000;

  private static final long FIRST_BATCH = 500;

  /** Nanoseconds of a batch of a start: much more than its overhead, much less than an interval. */
  private static final long EARLY_SLICE = 10_000_000;

  private static final long IDLE_WARM_UP_ROUNDS = 2_000;
  private static final int FIRST_CONNECTIONS = 100;

  private Measures() {}

  /** Measures operations per second. */
  public static Measurement reads(OneSided participant, ReadLayout layout, Plan plan)
      throws Exception {
    ReadCheck check = new ReadCheck(layout);
    return rates(n -> participant.read(n, check, plan.deadline()), plan);
  }

  /** Measures messages per second. */
  public static Measurement messages(OneWay participant, int size, Plan plan) throws Exception {
    MessageSource source = new MessageSource(size);
    MessageCheck check = new MessageCheck(size);
    return rates(n -> participant.transfer(n, source, check, plan.deadline()), plan);
  }

  /** Measures CPU nanoseconds per message, of both ends. */
  public static Measurement messageCpu(OneWay participant, int size, Plan plan) throws Exception {
    MessageSource source = new MessageSource(size);
    MessageCheck check = new MessageCheck(size);
    Batch batch = n -> participant.transfer(n, source, check, plan.deadline());
    long messages = warmUp(batch, plan);
    List<Double> cpu = new ArrayList<>();
    for (int i = 0; i < plan.repetitions(); i++) {
      ThreadCounters counters = new ThreadCounters();
      long others = participant.otherCpuNanos();
      batch.run(messages);
      long used = counters.cpuNanos() + participant.otherCpuNanos() - others;
      cpu.add(used / (double) messages);
    }
    return new Measurement(cpu, List.of(), NOT_MEASURED);
  }

  /** Measures nanoseconds of a round trip, 50th and 99th percentile. */
  public static Measurement roundTrips(PingPong participant, int size, Plan plan) throws Exception {
    Ping ping = new Ping(size);
    Pong pong = new Pong(size);
    Batch batch =
        rounds -> {
          ping.restart();
          participant.exchange(rounds, ping, pong, plan.deadline());
        };
    long rounds = warmUp(batch, plan);
    List<Double> p50 = new ArrayList<>();
    List<Double> p99 = new ArrayList<>();
    ThreadCounters counters = new ThreadCounters();
    for (int i = 0; i < plan.repetitions(); i++) {
      batch.run(rounds);
      Histogram times = ping.times();
      p50.add((double) times.getValueAtPercentile(50));
      p99.add((double) times.getValueAtPercentile(99));
    }
    return new Measurement(p50, p99, counters.allocatedBytes() / (double) (rounds * p50.size()));
  }

  /** Measures CPU nanoseconds per second of an open connection that sends nothing. */
  public static Measurement idleCpu(PingPong participant, int size, Plan plan) throws Exception {
    Ping ping = new Ping(size);
    ping.restart();
    participant.exchange(IDLE_WARM_UP_ROUNDS, ping, new Pong(size), plan.deadline());
    idle(200_000_000L);
    return idleCpu(plan);
  }

  /**
   * Measures CPU nanoseconds per second of open connections that send nothing, over {@code time},
   * which should include one keep-alive of each connection.
   */
  public static Measurement crowdCpu(
      IdleConnections participant, int connections, Duration time, Plan plan) throws Exception {
    participant.open(connections, plan.deadline());
    return new Measurement(List.of(othersCpu(time.toNanos())), List.of(), NOT_MEASURED);
  }

  /** Measures CPU nanoseconds per second of open connections that send nothing. */
  public static Measurement crowdCpu(IdleConnections participant, int connections, Plan plan)
      throws Exception {
    participant.open(connections, plan.deadline());
    idle(plan.warmUp().toNanos());
    return idleCpu(plan);
  }

  private static Measurement idleCpu(Plan plan) {
    List<Double> cpu = new ArrayList<>();
    for (int i = 0; i < plan.repetitions(); i++) {
      cpu.add(othersCpu(1_000_000_000L));
    }
    return new Measurement(cpu, List.of(), NOT_MEASURED);
  }

  private static double othersCpu(long nanos) {
    ThreadCounters counters = new ThreadCounters();
    long began = System.nanoTime();
    idle(nanos);
    return counters.othersCpuNanos() * 1e9 / (System.nanoTime() - began);
  }

  /** Measures bytes per connection, of both ends: objects after collections, direct buffers. */
  public static Measurement crowdMemory(IdleConnections participant, int connections, Plan plan)
      throws Exception {
    return crowdBytes(
        participant, connections, plan, () -> UsedMemory.heapBytes() + UsedMemory.directBytes());
  }

  /** Measures bytes of objects per connection, of both ends, after collections. */
  public static Measurement crowdHeap(IdleConnections participant, int connections, Plan plan)
      throws Exception {
    return crowdBytes(participant, connections, plan, UsedMemory::heapBytes);
  }

  private static Measurement crowdBytes(
      IdleConnections participant, int connections, Plan plan, LongSupplier used) throws Exception {
    // The first connections also allocate shared memory: classes, pools, compiled code.
    participant.open(FIRST_CONNECTIONS, plan.deadline());
    idle(plan.warmUp().toNanos());
    // The second measurement collects objects that the first one made unreachable.
    long before = Math.min(used.getAsLong(), used.getAsLong());
    participant.open(connections, plan.deadline());
    List<Double> bytes = new ArrayList<>();
    for (int i = 0; i < plan.repetitions(); i++) {
      idle(200_000_000L);
      bytes.add((used.getAsLong() - before) / (double) connections);
    }
    return new Measurement(bytes, List.of(), NOT_MEASURED);
  }

  /** Measures connections opened per second, for each tenth of the connections. */
  public static Measurement setUp(IdleConnections participant, int connections, Plan plan)
      throws Exception {
    long end = System.nanoTime() + plan.warmUp().toNanos();
    while (System.nanoTime() - end < 0) {
      participant.open(FIRST_CONNECTIONS, plan.deadline());
      participant.shut(plan.deadline());
    }
    List<Double> rates = new ArrayList<>();
    for (int opened = 0, tenth = Math.max(1, connections / 10); opened < connections; ) {
      long began = System.nanoTime();
      participant.open(tenth, plan.deadline());
      opened += tenth;
      rates.add(tenth * 1e9 / (System.nanoTime() - began));
    }
    return new Measurement(rates, List.of(), NOT_MEASURED);
  }

  /** Measures nanoseconds of a round trip on one of many connections: 50th, 99.9th percentile. */
  public static Measurement crowdEcho(IdleConnections participant, int connections, Plan plan)
      throws Exception {
    participant.open(connections, plan.deadline());
    Histogram times = new Histogram(3);
    Batch batch =
        rounds -> {
          times.reset();
          Deadline deadline = plan.deadline();
          for (long i = 0; i < rounds; i++) {
            long began = System.nanoTime();
            deadline.await(participant.echo(0, 1));
            times.recordValue(System.nanoTime() - began);
          }
        };
    long rounds = warmUp(batch, plan);
    List<Double> p50 = new ArrayList<>();
    List<Double> tail = new ArrayList<>();
    for (int i = 0; i < plan.repetitions(); i++) {
      batch.run(rounds);
      p50.add((double) times.getValueAtPercentile(50));
      tail.add((double) times.getValueAtPercentile(99.9));
    }
    return new Measurement(p50, tail, NOT_MEASURED);
  }

  /**
   * Measures nanoseconds from the due time of a round trip to its end, 50th and 99.9th percentile.
   * Each connection has one round trip per second, evenly spread. Omits the 99.9th percentile with
   * fewer than 1,000 connections.
   */
  public static Measurement crowdEchoes(IdleConnections participant, int connections, Plan plan)
      throws Exception {
    participant.open(connections, plan.deadline());
    List<Double> p50 = new ArrayList<>();
    List<Double> tail = new ArrayList<>();
    // Warm up at full rate: at one per second, code would be compiled during the repetitions.
    long end = System.nanoTime() + plan.warmUp().toNanos();
    for (int i = 0; System.nanoTime() - end < 0; i = (i + 1) % connections) {
      plan.deadline().await(participant.echo(i, 1));
    }
    echoes(participant, connections, plan);
    for (int i = 0; i < plan.repetitions(); i++) {
      Histogram times = echoes(participant, connections, plan);
      p50.add((double) times.getValueAtPercentile(50));
      tail.add(connections < FEWEST_FOR_TAIL ? NOT_MEASURED : times.getValueAtPercentile(99.9));
    }
    return new Measurement(p50, tail, NOT_MEASURED);
  }

  /** Performs one round trip on each connection, evenly spread over a second. */
  private static Histogram echoes(IdleConnections participant, int connections, Plan plan)
      throws Exception {
    Histogram times = new ConcurrentHistogram(3);
    Deadline deadline = plan.deadline();
    List<CompletionStage<Void>> echoes = new ArrayList<>(connections);
    long began = System.nanoTime();
    for (int i = 0; i < connections; i++) {
      long due = began + 1_000_000_000L * i / connections;
      idle(due - System.nanoTime());
      echoes.add(
          participant
              .echo(i, 1)
              .thenRun(() -> times.recordValue(Math.max(0, System.nanoTime() - due))));
    }
    for (CompletionStage<Void> each : echoes) {
      deadline.await(each);
    }
    idle(began + 1_000_000_000L - System.nanoTime());
    return times;
  }

  /** Measures echoed messages per second, on all connections at once. */
  public static Measurement crowdRate(IdleConnections participant, int connections, Plan plan)
      throws Exception {
    participant.open(connections, plan.deadline());
    Batch batch =
        messages -> {
          Deadline deadline = plan.deadline();
          List<CompletionStage<Void>> echoes = new ArrayList<>(connections);
          for (int i = 0; i < connections; i++) {
            long share = messages / connections + (i < messages % connections ? 1 : 0);
            if (share > 0) {
              echoes.add(participant.echo(i, share));
            }
          }
          for (CompletionStage<Void> each : echoes) {
            deadline.await(each);
          }
        };
    return rates(batch, plan);
  }

  /** Measures calls per second. */
  public static Measurement calls(UnaryCalls participant, Plan plan) throws Exception {
    return rates(calls -> participant.call(calls, plan.deadline()), plan);
  }

  /** Measures CPU nanoseconds per call, of both ends. */
  public static Measurement callCpu(UnaryCalls participant, Plan plan) throws Exception {
    Batch batch = calls -> participant.call(calls, plan.deadline());
    long calls = warmUp(batch, plan);
    List<Double> cpu = new ArrayList<>();
    for (int i = 0; i < plan.repetitions(); i++) {
      ThreadCounters counters = new ThreadCounters();
      long others = participant.otherCpuNanos();
      batch.run(calls);
      long used = counters.cpuNanos() + participant.otherCpuNanos() - others;
      cpu.add(used / (double) calls);
    }
    return new Measurement(cpu, List.of(), NOT_MEASURED);
  }

  /** Measures CPU nanoseconds per call of other processes of the participant. */
  public static <P extends UnaryCalls> Measurement otherCpu(
      P participant, ToLongFunction<P> used, Plan plan) throws Exception {
    Batch batch = calls -> participant.call(calls, plan.deadline());
    long calls = warmUp(batch, plan);
    List<Double> cpu = new ArrayList<>();
    for (int i = 0; i < plan.repetitions(); i++) {
      long before = used.applyAsLong(participant);
      batch.run(calls);
      cpu.add((used.applyAsLong(participant) - before) / (double) calls);
    }
    return new Measurement(cpu, List.of(), NOT_MEASURED);
  }

  /** Measures round trips per second from one time to another after the start, unwarmed. */
  public static Measurement earlyRoundTrips(
      PingPong participant, int size, Duration from, Duration to, Plan plan) throws Exception {
    Ping ping = new Ping(size);
    Pong pong = new Pong(size);
    return early(
        rounds -> {
          ping.restart();
          participant.exchange(rounds, ping, pong, plan.deadline());
        },
        from,
        to);
  }

  /** Measures calls per second from one time to another after the start, unwarmed. */
  public static Measurement earlyCalls(
      UnaryCalls participant, Duration from, Duration to, Plan plan) throws Exception {
    return early(calls -> participant.call(calls, plan.deadline()), from, to);
  }

  private static Measurement early(Batch batch, Duration from, Duration to) throws Exception {
    long began = System.nanoTime();
    long now = began;
    long counting = began;
    long counted = 0;
    long operations = 1;
    while (now - began < to.toNanos()) {
      boolean isBefore = now - began < from.toNanos();
      batch.run(operations);
      long after = System.nanoTime();
      if (isBefore) {
        // A batch that began before the interval does not count, however long it took.
        counting = after;
      } else {
        counted += operations;
      }
      long fitting = operations * EARLY_SLICE / Math.max(1, after - now);
      operations = Math.max(1, Math.min(fitting, 4 * operations));
      now = after;
    }
    return new Measurement(List.of(counted * 1e9 / (now - counting)), List.of(), NOT_MEASURED);
  }

  private interface Batch {
    void run(long operations) throws Exception;
  }

  private static Measurement rates(Batch batch, Plan plan) throws Exception {
    long operations = warmUp(batch, plan);
    List<Double> rates = new ArrayList<>();
    ThreadCounters counters = new ThreadCounters();
    for (int i = 0; i < plan.repetitions(); i++) {
      long began = System.nanoTime();
      batch.run(operations);
      rates.add(operations * 1e9 / (System.nanoTime() - began));
    }
    double allocated = counters.allocatedBytes();
    return new Measurement(rates, List.of(), allocated / (operations * rates.size()));
  }

  /** Runs growing batches until the warm-up is over. Returns the operations per repetition. */
  private static long warmUp(Batch batch, Plan plan) throws Exception {
    long end = System.nanoTime() + plan.warmUp().toNanos();
    long repetition = plan.repetition().toNanos();
    long operations = FIRST_BATCH;
    while (true) {
      long began = System.nanoTime();
      batch.run(operations);
      long now = System.nanoTime();
      double perOperation = Math.max(now - began, 1) / (double) operations;
      long fitting = Math.max(FIRST_BATCH, (long) (repetition / perOperation));
      operations = Math.min(fitting, operations * 8);
      if (now - end >= 0) {
        return fitting;
      }
    }
  }

  private static void idle(long nanos) {
    long end = System.nanoTime() + nanos;
    for (long left = nanos; left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
