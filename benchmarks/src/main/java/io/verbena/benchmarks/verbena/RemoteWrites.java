// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.verbena.benchmarks.work.ByteBufferView;
import io.verbena.benchmarks.work.DataCheckFailed;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.MessageCheck;
import io.verbena.benchmarks.work.MessageSource;
import io.verbena.benchmarks.work.OneWay;
import io.verbena.benchmarks.work.OtherProcess;
import io.verbena.benchmarks.work.Spin;
import io.verbena.verbs.Access;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeoutException;

/**
 * RDMA WRITE into another process, several outstanding at once. At the end of a batch, reads back
 * the last message of each place and compares it.
 */
public final class RemoteWrites implements OneWay {
  private static final int UNDER_WAY = 16;

  /** The size of messages for the other process; none are sent. */
  private static final int UNUSED_SIZE = 64;

  private final int size;
  private final int underWay;
  private final OtherProcess other;
  private final VerbsEnd end;
  private final QueuePair pair;
  private final WireOther.RemoteTarget target;
  private final ByteBuffer messages;
  private final ByteBuffer back;
  private final MemoryRegion from;
  private final MemoryRegion into;
  private final ByteBufferView[] views;
  private final SendWorkRequest request = new SendWorkRequest();
  private final WorkCompletion[] completions;
  private long posted;
  private long completed;

  public RemoteWrites(int size, WireHosts hosts) throws Exception {
    this(size, hosts, UNDER_WAY);
  }

  /** Creates a participant with one WRITE at a time, whose packets fit into socket buffers. */
  public static RemoteWrites single(int size, WireHosts hosts) throws Exception {
    return new RemoteWrites(size, hosts, 1);
  }

  private RemoteWrites(int size, WireHosts hosts, int underWay) throws Exception {
    this.size = size;
    this.underWay = underWay;
    views = new ByteBufferView[underWay];
    completions = WorkCompletion.array(underWay);
    other = new OtherProcess(WireOther.class, hosts.there(), UNUSED_SIZE, size * underWay);
    target = WireOther.RemoteTarget.decode(other.line());
    end = new VerbsEnd(hosts.here());
    pair = end.connect(target.address());
    messages = end.allocate(size * underWay);
    back = end.allocate(size);
    from = end.register(messages);
    into = end.register(back, Access.LOCAL_WRITE);
    MessageSource source = new MessageSource(size);
    for (int i = 0; i < underWay; i++) {
      views[i] = new ByteBufferView(messages, i * size);
      source.prepare(views[i]);
    }
  }

  @Override
  public void transfer(long count, MessageSource source, MessageCheck check, Deadline deadline)
      throws TimeoutException {
    Spin spin = deadline.spin();
    for (long i = 0; i < count; i++) {
      drainTo(underWay - 1, spin);
      int place = (int) (posted % underWay);
      source.next(views[place]);
      long offset = (long) place * size;
      pair.postSend(
          request
              .id(posted++)
              .write(target.memory() + offset, target.rkey())
              .signaled()
              .buffer(from.address() + offset, size, from.lkey()));
    }
    drainTo(0, spin);
    int written = (int) Math.min(count, underWay);
    for (int i = 1; i <= written; i++) {
      compare((int) ((posted - i) % underWay), spin);
    }
  }

  private void drainTo(int most, Spin spin) throws TimeoutException {
    while (posted - completed > most) {
      int polled = end.sent.poll(completions);
      for (int i = 0; i < polled; i++) {
        Completions.check(completions[i], completed++);
      }
      if (polled == 0) {
        spin.spin();
      }
    }
  }

  private void compare(int place, Spin spin) throws TimeoutException {
    long offset = (long) place * size;
    pair.postSend(
        request
            .id(posted)
            .read(target.memory() + offset, target.rkey())
            .signaled()
            .buffer(into.address(), size, into.lkey()));
    // The READ is not counted as a WRITE, so the sequence of places continues.
    while (end.sent.poll(completions) == 0) {
      spin.spin();
    }
    Completions.check(completions[0], posted);
    int wrong = back.mismatch(messages.slice(place * size, size));
    if (wrong >= 0) {
      throw new DataCheckFailed(
          "byte", posted, wrong, back.get(wrong), messages.get(place * size + wrong));
    }
  }

  @Override
  public long otherCpuNanos() {
    return other.cpuNanos();
  }

  @Override
  public void close() {
    try (other) {
      end.close();
    }
  }
}
