// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import io.verbena.benchmarks.work.Deadline;
import java.io.IOException;
import java.time.Duration;

/** A connection between the processes of two hosts, for a job and its warm-up. */
final class WireSession implements AutoCloseable {
  private static final int ROUNDS = 200;
  private static final int SHORT_WRITES = 1000;
  private static final int LONG_WRITES = 100;

  private final EndProcess near;
  private final EndProcess far;
  private boolean written;

  /**
   * Connects.
   *
   * @param near the process that connects, pings and writes
   * @param connects its device, and the address that it connects to
   * @param far the process that listens, answers and is written to
   * @param listens its device
   */
  WireSession(
      EndProcess near, ConnectionAddress connects, EndProcess far, ConnectionAddress listens)
      throws IOException {
    this.near = near;
    this.far = far;
    String target =
        far.ask(String.join(" ", "listen", listens.scheme(), listens.far(), "" + listens.port()));
    far.order("accept");
    near.ask(
        String.join(
            " ",
            "connect",
            connects.scheme(),
            connects.near(),
            connects.far(),
            "" + connects.port(),
            target));
    far.answer();
  }

  /** Returns the median of half a round trip in microseconds. */
  double roundTrips(int rounds) throws IOException {
    far.order("pong " + rounds);
    double micros = Double.parseDouble(near.ask("ping " + rounds));
    far.answer();
    return micros;
  }

  /** Returns MiB per second. */
  double writes(int count) throws IOException {
    double seconds = Double.parseDouble(near.ask("write " + count + " " + Job.BLOCK));
    written = true;
    return (double) count * Job.BLOCK / (1 << 20) / seconds;
  }

  /**
   * Runs the job for a while without measuring it. Also writes short blocks, which execute the code
   * per WRITE most often.
   */
  void warmUp(Job job, Duration time) throws IOException {
    Deadline end = Deadline.in(time);
    do {
      switch (job) {
        case PING_PONG -> roundTrips(ROUNDS);
        case READ -> throw new IllegalArgumentException("job: " + job + " (expected: another)");
        case WRITE -> {
          near.ask("write " + SHORT_WRITES + " " + Job.MESSAGE);
          writes(LONG_WRITES);
        }
      }
    } while (end.remainingNanos() > 0);
  }

  /** Returns the counters of both devices as human-readable text. */
  String counts() throws IOException {
    return "near " + near.ask("count") + ", far " + far.ask("count");
  }

  /** Closes both ends and checks that the written bytes have arrived. */
  @Override
  public void close() throws IOException {
    String wrote = near.ask("close");
    String there = far.ask("close");
    if (written && !there.equals(wrote)) {
      throw new IOException("the far end's memory is not what was written");
    }
  }
}
