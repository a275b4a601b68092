// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.verbena.samples.report.Progress;
import java.time.Duration;
import java.util.List;

/**
 * Job (d): a block as a stream of messages, first to a fast subscriber alone, then to a fast one
 * while a slow one has stopped in the middle of its own stream.
 */
final class StreamToTwo {
  /** Bytes in a message. */
  static final int MESSAGE_LENGTH = 64 << 10;

  private static final int STALL_AT = 256;

  private final StreamingTwin twin;
  private final BlockInfo block;
  private final Destinations into;
  private final Progress.Step step;
  private final Duration limit;

  private StreamToTwo(
      StreamingTwin twin, BlockInfo block, Destinations into, Progress.Step step, Duration limit) {
    this.twin = twin;
    this.block = block;
    this.into = into;
    this.step = step;
    this.limit = limit;
  }

  /**
   * @param alone megabytes per second of the fast subscriber, alone
   * @param beside megabytes per second of the fast subscriber, beside the slow one
   * @param lead the most messages that the sender was ahead of the slow subscriber's demand
   * @param digests of the blocks of the fast one alone, of the fast one beside the slow one, and of
   *     the slow one
   */
  record Result(double alone, double beside, int lead, List<Sha256> digests) {}

  /** Returns the amount by which {@code step} advances. */
  static long total(BlockInfo block) {
    return 3L * ((block.length() + MESSAGE_LENGTH - 1) / MESSAGE_LENGTH);
  }

  /**
   * Runs the job.
   *
   * @param into three buffers
   */
  static Result run(
      StreamingTwin twin, BlockInfo block, Destinations into, Progress.Step step, Duration limit) {
    into.wipe();
    return new StreamToTwo(twin, block, into, step, limit).run();
  }

  private Result run() {
    double alone = streamToFast(0);

    StreamingClient client = connect();
    BlockStream stream = begin(client);
    SlowSubscriber slow =
        new SlowSubscriber(
            stream,
            into.get(2),
            Math.min(STALL_AT, stream.messages() / 2),
            () -> twin.streams().sent(stream.number()),
            step);
    stream.content().subscribe(slow);
    Waits.end(slow.stalled(), limit, "stream to the slow one, " + twin.name());
    double beside = streamToFast(1);
    slow.resume();
    Waits.end(slow.finished(), limit, "rest of the stream to the slow one, " + twin.name());
    Waits.end(client.close(), limit, "close");

    return new Result(alone, beside, slow.lead(), into.digests().subList(0, 3));
  }

  private double streamToFast(int index) {
    StreamingClient client = connect();
    BlockStream stream = begin(client);
    long began = System.nanoTime();
    Waits.end(stream.copyInto(into.get(index)), limit, "stream to the fast one, " + twin.name());
    long ended = System.nanoTime();
    step.advance(stream.messages());
    Waits.end(client.close(), limit, "close");
    return 1e3 * stream.length() / (ended - began);
  }

  private StreamingClient connect() {
    return Waits.value(twin.connect(), limit, "connect to " + twin.address());
  }

  private BlockStream begin(StreamingClient client) {
    return Waits.value(client.stream(block.name(), MESSAGE_LENGTH), limit, "stream");
  }
}
