// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.jmh;

import io.verbena.benchmarks.verbena.VerbsLoop;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Post and poll at the verbs SPI, both ends in one thread. Allocates nothing. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class VerbsPostAndPoll {
  /** Bytes of an operation. */
  @Param({"64", "4096"})
  public int size;

  /** The HCA; {@code -p hca=disni://ADDRESS} for a real one. */
  @Param("emulated://verbena-bench")
  public String hca;

  private VerbsLoop loop;

  /**
   * Opens the pair. A shutdown hook closes it, because JMH counts a teardown into the last
   * iteration.
   */
  @Setup
  public void open() throws Exception {
    VerbsLoop opened = new VerbsLoop(URI.create(hca), size);
    Runtime.getRuntime().addShutdownHook(new Thread(opened::close, "close-hca"));
    loop = opened;
  }

  /** RDMA READ and its completion. */
  @Benchmark
  public int read() {
    return loop.read();
  }

  /** RDMA WRITE and its completion. */
  @Benchmark
  public int write() {
    return loop.write();
  }

  /** SEND, its completion, the receive's completion, and the receive posted again. */
  @Benchmark
  public int sendAndReceive() {
    return loop.sendAndReceive();
  }

  /** Fetch-and-add and its completion. */
  @Benchmark
  public int fetchAndAdd() {
    return loop.fetchAndAdd();
  }
}
