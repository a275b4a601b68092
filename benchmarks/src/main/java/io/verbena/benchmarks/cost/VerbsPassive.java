// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import io.verbena.benchmarks.verbena.VerbsEnd;
import io.verbena.verbs.Access;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.DeviceCounters;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The passive end at the verbs SPI. */
final class VerbsPassive implements PassiveEnd {
  private final VerbsEnd end;
  private final MemoryRegion block;
  private @Nullable VerbsMessages messages;

  VerbsPassive(ConnectionAddress address, ByteBuffer block) {
    end = new VerbsEnd(address.uri());
    try {
      this.block = end.register(block, Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE);
      end.keep(end.manager.listen(address.uri(), 1));
    } catch (RuntimeException e) {
      end.close();
      throw e;
    }
  }

  @Override
  public RemoteBlock target() {
    return new RemoteBlock(block.address(), block.rkey());
  }

  @Override
  public void accept() throws Exception {
    ConnectionIdentifier identifier = end.await(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
    QueuePair queuePair = end.queuePair(identifier, Job.DEPTH, Job.RECEIVES);
    messages = new VerbsMessages(end, queuePair);
    identifier.accept(ConnectionParameters.defaults());
    end.await(ConnectionEvent.Type.ESTABLISHED);
  }

  @Override
  public void pong(int rounds) throws Exception {
    if (messages == null) {
      throw new IllegalStateException("pong: not connected");
    }
    Messages.pong(messages, rounds, Limits.job().spin());
  }

  DeviceCounters counters() {
    return end.counters();
  }

  @Override
  public void close() {
    end.close();
  }
}
