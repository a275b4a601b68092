// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.verbena.benchmarks.work.ByteBufferView;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.DirectMemory;
import io.verbena.benchmarks.work.MessageCheck;
import io.verbena.benchmarks.work.MessageSource;
import io.verbena.benchmarks.work.OneWay;
import java.nio.ByteBuffer;

/** The limit of moving large messages: one copy per message, in one thread. */
public final class MemcpyOneWay implements OneWay {
  private final ByteBuffer from;
  private final ByteBuffer to;
  private final int size;

  public MemcpyOneWay(int size) {
    this.size = size;
    this.from = DirectMemory.allocate(size);
    this.to = DirectMemory.allocate(size);
    new MessageSource(size).prepare(new ByteBufferView(from, 0));
  }

  @Override
  public void transfer(long messages, MessageSource source, MessageCheck check, Deadline deadline) {
    ByteBufferView sent = new ByteBufferView(from, 0);
    ByteBufferView received = new ByteBufferView(to, 0);
    for (long i = 0; i < messages; i++) {
      source.next(sent);
      to.put(0, from, 0, size);
      check.accept(received, size);
    }
    check.whole(received);
  }

  @Override
  public void close() {}
}
