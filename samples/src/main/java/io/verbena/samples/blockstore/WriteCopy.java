// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.netty.buffer.ByteBuf;
import io.verbena.samples.report.Progress;
import java.time.Duration;

/** Job (c): a client writes a copy of a block into the server's memory; the server checks it. */
final class WriteCopy {
  private WriteCopy() {}

  /**
   * @param megabytesPerSecond of the writes, without the server's check
   * @param stored the server's description of the stored block
   * @param stat the server's description for another client
   */
  record Result(double megabytesPerSecond, BlockInfo stored, BlockInfo stat) {}

  /**
   * Runs the job.
   *
   * @param copy its name, length and digest
   * @param content its bytes, owned by the caller
   */
  static Result run(
      RdmaTwin twin, BlockInfo copy, ByteBuf content, Progress.Step step, Duration limit) {
    String connecting = "connect to " + twin.address();
    RdmaBlockClient writer = Waits.value(twin.connect(), limit, connecting);
    Reply.Reservation reservation = Waits.value(writer.reserve(copy), limit, "reserve");
    long began = System.nanoTime();
    Waits.end(writer.write(content, reservation), limit, "write");
    long written = System.nanoTime();
    step.advance(copy.length());
    BlockInfo stored = Waits.value(writer.stored(), limit, "check by the server");
    RdmaBlockClient other = Waits.value(twin.connect(), limit, connecting);
    BlockInfo stat = Waits.value(other.stat(copy.name()), limit, "stat");
    Waits.end(writer.close(), limit, "close");
    Waits.end(other.close(), limit, "close");
    return new Result(1e3 * copy.length() / (written - began), stored, stat);
  }
}
