// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.verbena.benchmarks.work.ByteBufferView;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.DirectMemory;
import io.verbena.benchmarks.work.OneSided;
import io.verbena.benchmarks.work.ReadCheck;
import io.verbena.benchmarks.work.ReadLayout;
import io.verbena.benchmarks.work.Spin;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeoutException;

/** RDMA READ at the verbs SPI: post one, poll its completion, check, in one thread. */
public final class VerbsReads implements OneSided {
  private final ReadLayout layout;
  private final VerbsPair pair;
  private final MemoryRegion remote;
  private final MemoryRegion local;
  private final ByteBufferView view;
  private final SendWorkRequest request = new SendWorkRequest();
  private final WorkCompletion[] completions = WorkCompletion.array(1);

  public VerbsReads(ReadLayout layout) throws Exception {
    this.layout = layout;
    this.pair = new VerbsPair();
    ByteBuffer far = DirectMemory.allocate(layout.bytes());
    for (int slot = 0; slot < layout.slots(); slot++) {
      layout.fill(slot, new ByteBufferView(far, layout.offset(slot)));
    }
    ByteBuffer near = DirectMemory.allocate(layout.size());
    remote = pair.server.register(far, Access.REMOTE_READ);
    local = pair.client.register(near, Access.LOCAL_WRITE);
    view = new ByteBufferView(near, 0);
  }

  @Override
  public void read(long operations, ReadCheck check, Deadline deadline) throws TimeoutException {
    Spin spin = deadline.spin();
    CompletionQueue completed = pair.client.sent;
    for (long i = 0; i < operations; i++) {
      int slot = check.nextSlot();
      pair.atClient.postSend(
          request
              .id(i)
              .read(remote.address() + layout.offset(slot), remote.rkey())
              .signaled()
              .buffer(local.address(), layout.size(), local.lkey()));
      while (completed.poll(completions) == 0) {
        spin.spin();
      }
      Completions.check(completions[0], i);
      check.accept(slot, view);
    }
  }

  @Override
  public void close() {
    pair.close();
  }
}
