// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A connection through a layer, for one job. */
final class Session implements AutoCloseable {
  private final EndProcess passive;
  private final ByteBuffer block = Block.random();
  private final ActiveEnd end;
  private boolean written;

  Session(EndProcess passive, Layer layer, Job job, ConnectionAddress address) throws Exception {
    this.passive = passive;
    RemoteBlock target =
        RemoteBlock.decode(
            passive.ask("open " + layer + " " + job + " " + address.far() + " " + address.port()));
    passive.order("accept");
    end = layer.active(address, block, target);
    passive.answer();
  }

  /** Returns the median of half a round trip in microseconds. */
  double roundTrips(int rounds) throws Exception {
    RoundTrips times = new RoundTrips(rounds);
    passive.order("pong " + rounds);
    end.ping(rounds, times);
    passive.answer();
    return times.halfMicros();
  }

  /** Writes a block, reads from it, and returns the median of a READ in microseconds. */
  double reads(int rounds) throws Exception {
    RoundTrips times = new RoundTrips(rounds);
    end.write(1, Job.BLOCK);
    // If the READ does not restore these bytes, the two ends differ at the close.
    for (int i = 0; i < Job.MESSAGE; i += Long.BYTES) {
      block.putLong(i, 0);
    }
    end.read(rounds, times);
    written = true;
    return times.wholeMicros();
  }

  /**
   * Runs the job without measuring it. The writes are short: enough of them for the JIT compiler
   * would take minutes with long ones.
   */
  void warmUp(Job job, int count) throws Exception {
    switch (job) {
      case PING_PONG -> roundTrips(count);
      case READ -> reads(count);
      case WRITE -> end.write(count, Job.MESSAGE);
    }
  }

  /** Returns MiB per second. */
  double writes(int count) throws Exception {
    long began = System.nanoTime();
    end.write(count, Job.BLOCK);
    double seconds = (System.nanoTime() - began) / 1e9;
    written = true;
    return (double) count * Job.BLOCK / (1 << 20) / seconds;
  }

  /**
   * Closes both ends.
   *
   * @throws IOException also if the memory of the two ends differs after a write or read
   */
  @Override
  public void close() throws IOException {
    end.close();
    long there = Long.parseLong(passive.ask("close"));
    if (written && there != Block.checksum(block)) {
      throw new IOException("the far end's memory is not what was written");
    }
  }
}
