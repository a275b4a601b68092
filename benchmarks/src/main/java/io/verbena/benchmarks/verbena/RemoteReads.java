// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.verbena.benchmarks.work.ByteBufferView;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.OneSided;
import io.verbena.benchmarks.work.OtherProcess;
import io.verbena.benchmarks.work.ReadCheck;
import io.verbena.benchmarks.work.ReadLayout;
import io.verbena.benchmarks.work.Spin;
import io.verbena.verbs.Access;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeoutException;

/** RDMA READ of another process's memory: post one, poll its completion, check. */
public final class RemoteReads implements OneSided {
  private static final Duration FILLING = Duration.ofMinutes(1);

  /** The size of messages for the other process; none are sent. */
  private static final int UNUSED_SIZE = 64;

  private final ReadLayout layout;
  private final OtherProcess other;
  private final VerbsEnd end;
  private final QueuePair pair;
  private final WireOther.RemoteTarget target;
  private final MemoryRegion local;
  private final ByteBufferView view;
  private final SendWorkRequest request = new SendWorkRequest();
  private final WorkCompletion[] completions = WorkCompletion.array(1);

  public RemoteReads(ReadLayout layout, WireHosts hosts) throws Exception {
    this.layout = layout;
    other = new OtherProcess(WireOther.class, hosts.there(), UNUSED_SIZE, layout.bytes());
    target = WireOther.RemoteTarget.decode(other.line());
    end = new VerbsEnd(hosts.here());
    pair = end.connect(target.address());
    ByteBuffer near = end.allocate(layout.size());
    local = end.register(near, Access.LOCAL_WRITE);
    view = new ByteBufferView(near, 0);
    Spin spin = Deadline.in(FILLING).spin();
    for (int slot = 0; slot < layout.slots(); slot++) {
      layout.fill(slot, view);
      perform(request.write(address(slot), target.rkey()), slot, spin);
    }
  }

  private long address(int slot) {
    return target.memory() + layout.offset(slot);
  }

  private void perform(SendWorkRequest operation, long id, Spin spin) throws TimeoutException {
    pair.postSend(operation.id(id).signaled().buffer(local.address(), layout.size(), local.lkey()));
    while (end.sent.poll(completions) == 0) {
      spin.spin();
    }
    Completions.check(completions[0], id);
  }

  @Override
  public void read(long operations, ReadCheck check, Deadline deadline) throws TimeoutException {
    Spin spin = deadline.spin();
    for (long i = 0; i < operations; i++) {
      int slot = check.nextSlot();
      perform(request.read(address(slot), target.rkey()), i, spin);
      check.accept(slot, view);
    }
  }

  @Override
  public void close() {
    try (other) {
      end.close();
    }
  }
}
