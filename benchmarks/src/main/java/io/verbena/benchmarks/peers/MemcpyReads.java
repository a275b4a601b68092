// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.verbena.benchmarks.work.ByteBufferView;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.DirectMemory;
import io.verbena.benchmarks.work.OneSided;
import io.verbena.benchmarks.work.ReadCheck;
import io.verbena.benchmarks.work.ReadLayout;
import java.nio.ByteBuffer;

/** The limit of a one-sided read within one JVM: one copy from direct buffer to direct buffer. */
public final class MemcpyReads implements OneSided {
  private final ReadLayout layout;
  private final ByteBuffer remote;
  private final ByteBuffer local;

  public MemcpyReads(ReadLayout layout) {
    this.layout = layout;
    this.remote = DirectMemory.allocate(layout.bytes());
    this.local = DirectMemory.allocate(layout.size());
    for (int slot = 0; slot < layout.slots(); slot++) {
      layout.fill(slot, new ByteBufferView(remote, layout.offset(slot)));
    }
  }

  @Override
  public void read(long operations, ReadCheck check, Deadline deadline) {
    ByteBufferView view = new ByteBufferView(local, 0);
    int size = layout.size();
    for (long i = 0; i < operations; i++) {
      int slot = check.nextSlot();
      local.put(0, remote, layout.offset(slot), size);
      check.accept(slot, view);
    }
  }

  @Override
  public void close() {}
}
