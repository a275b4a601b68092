// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import io.verbena.benchmarks.verbena.Completions;
import io.verbena.benchmarks.verbena.VerbsEnd;
import io.verbena.benchmarks.work.Spin;
import io.verbena.verbs.Access;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.DeviceCounters;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;

/** The active end at the verbs SPI. */
final class VerbsActive implements ActiveEnd {
  private final VerbsEnd end;
  private final QueuePair queuePair;
  private final VerbsMessages messages;
  private final MemoryRegion block;
  private final RemoteBlock target;

  /** Whether to yield the CPU to the engine of an emulated HCA. With rxe, as perftest, spins. */
  private final boolean yields;

  private final SendWorkRequest request = new SendWorkRequest();
  private final WorkCompletion[] completions = WorkCompletion.array(Job.POLL);

  VerbsActive(ConnectionAddress address, ByteBuffer block, RemoteBlock target) throws Exception {
    this.target = target;
    yields = address.scheme().equals(ConnectionAddress.ROCE);
    end = new VerbsEnd(address.uri());
    try {
      this.block = end.register(block, Access.LOCAL_WRITE);
      ConnectionIdentifier identifier = end.manager.resolve(address.uri(), Limits.CONNECT_NANOS);
      end.await(ConnectionEvent.Type.ADDR_RESOLVED);
      queuePair = end.queuePair(identifier, Job.DEPTH, Job.RECEIVES);
      messages = new VerbsMessages(end, queuePair);
      identifier.connect(ConnectionParameters.defaults(), Limits.CONNECT_NANOS);
      end.await(ConnectionEvent.Type.ESTABLISHED);
    } catch (Exception e) {
      end.close();
      throw e;
    }
  }

  @Override
  public void ping(int rounds, RoundTrips times) throws Exception {
    Messages.ping(messages, rounds, times, Limits.job().spin());
  }

  @Override
  public void read(int rounds, RoundTrips times) throws Exception {
    Spin spin = Limits.job().spin();
    request
        .read(target.address(), target.key())
        .signaled()
        .buffer(block.address(), Job.MESSAGE, block.lkey());
    times.begin();
    for (int i = 0; i < rounds; i++) {
      queuePair.postSend(request);
      while (end.sent.poll(completions) == 0) {
        spin.spin();
      }
      Completions.check(completions[0]);
      times.round();
    }
  }

  @Override
  public void write(int count, int length) throws Exception {
    Spin spin = Limits.job().spin();
    int posted = 0;
    int done = 0;
    while (done < count) {
      while (posted < count && posted - done < Job.DEPTH) {
        queuePair.postSend(
            request
                .write(target.address(), target.key())
                .signaled()
                .buffer(block.address(), length, block.lkey()));
        posted++;
      }
      int polled = end.sent.poll(completions);
      for (int i = 0; i < polled; i++) {
        Completions.check(completions[i]);
      }
      done += polled;
      if (polled == 0) {
        if (yields) {
          spin.yield();
        } else {
          spin.spin();
        }
      }
    }
  }

  DeviceCounters counters() {
    return end.counters();
  }

  @Override
  public void close() {
    end.close();
  }
}
