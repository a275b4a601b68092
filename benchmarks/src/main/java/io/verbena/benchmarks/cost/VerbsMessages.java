// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import io.verbena.benchmarks.verbena.Completions;
import io.verbena.benchmarks.verbena.VerbsEnd;
import io.verbena.benchmarks.work.DirectMemory;
import io.verbena.benchmarks.work.Spin;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeoutException;

/** Messages at the verbs SPI, with requests that are filled once and posted repeatedly. */
final class VerbsMessages implements Messages {
  private final VerbsEnd end;
  private final QueuePair queuePair;
  private final ByteBuffer out = DirectMemory.allocate(Job.MESSAGE);
  private final ByteBuffer in = DirectMemory.allocate(Job.MESSAGE * Job.RECEIVES);
  private final SendWorkRequest request;
  private final ReceiveWorkRequest[] receives = new ReceiveWorkRequest[Job.RECEIVES];
  private final WorkCompletion[] completion = WorkCompletion.array(1);

  VerbsMessages(VerbsEnd end, QueuePair queuePair) {
    this.end = end;
    this.queuePair = queuePair;
    MemoryRegion from = end.register(out);
    MemoryRegion to = end.register(in, Access.LOCAL_WRITE);
    request =
        new SendWorkRequest().send().signaled().buffer(from.address(), Job.MESSAGE, from.lkey());
    for (int slot = 0; slot < Job.RECEIVES; slot++) {
      long address = to.address() + (long) slot * Job.MESSAGE;
      receives[slot] = new ReceiveWorkRequest().id(slot).buffer(address, Job.MESSAGE, to.lkey());
      queuePair.postReceive(receives[slot]);
    }
  }

  @Override
  public void send(long number, Spin spin) throws TimeoutException {
    out.putLong(0, number);
    queuePair.postSend(request);
    await(end.sent, spin);
  }

  @Override
  public long receive(Spin spin) throws TimeoutException {
    await(end.received, spin);
    Messages.checkLength(completion[0].byteLength());
    int slot = (int) completion[0].workRequestId();
    long number = in.getLong(slot * Job.MESSAGE);
    queuePair.postReceive(receives[slot]);
    return number;
  }

  private void await(CompletionQueue queue, Spin spin) throws TimeoutException {
    while (queue.poll(completion) == 0) {
      spin.spin();
    }
    Completions.check(completion[0]);
  }
}
