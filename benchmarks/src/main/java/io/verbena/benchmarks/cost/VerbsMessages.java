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

/** Messages at the verbs SPI. */
final class VerbsMessages implements Messages {
  private final VerbsEnd end;
  private final QueuePair queuePair;
  private final ByteBuffer out = DirectMemory.allocate(Job.MESSAGE);
  private final ByteBuffer in = DirectMemory.allocate(Job.MESSAGE * Job.RECEIVES);
  private final MemoryRegion outRegion;
  private final MemoryRegion inRegion;
  private final SendWorkRequest request = new SendWorkRequest();
  private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
  private final WorkCompletion[] completion = WorkCompletion.array(1);

  VerbsMessages(VerbsEnd end, QueuePair queuePair) {
    this.end = end;
    this.queuePair = queuePair;
    outRegion = end.register(out);
    inRegion = end.register(in, Access.LOCAL_WRITE);
    for (int slot = 0; slot < Job.RECEIVES; slot++) {
      post(slot);
    }
  }

  private void post(int slot) {
    long address = inRegion.address() + (long) slot * Job.MESSAGE;
    queuePair.postReceive(receive.id(slot).buffer(address, Job.MESSAGE, inRegion.lkey()));
  }

  @Override
  public void send(long number, Spin spin) throws TimeoutException {
    out.putLong(0, number);
    queuePair.postSend(
        request.send().signaled().buffer(outRegion.address(), Job.MESSAGE, outRegion.lkey()));
    await(end.sent, spin);
  }

  @Override
  public long receive(Spin spin) throws TimeoutException {
    await(end.received, spin);
    Messages.checkLength(completion[0].byteLength());
    int slot = (int) completion[0].workRequestId();
    long number = in.getLong(slot * Job.MESSAGE);
    post(slot);
    return number;
  }

  private void await(CompletionQueue queue, Spin spin) throws TimeoutException {
    while (queue.poll(completion) == 0) {
      spin.spin();
    }
    Completions.check(completion[0]);
  }
}
