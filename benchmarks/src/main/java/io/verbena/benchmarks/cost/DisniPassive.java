// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import com.ibm.disni.RdmaPassiveEndpointGroup;
import com.ibm.disni.RdmaServerEndpoint;
import com.ibm.disni.verbs.IbvMr;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The passive end on stock DiSNI. */
final class DisniPassive implements PassiveEnd {
  private final RdmaPassiveEndpointGroup<DisniEnd> group;
  private final RdmaServerEndpoint<DisniEnd> listener;
  private final IbvMr region;
  private @Nullable DisniEnd end;

  DisniPassive(ConnectionAddress address, ByteBuffer block) throws Exception {
    // The accepted endpoint writes nothing; the active end writes to the listener's block.
    group = DisniEnd.group(Block.zeros());
    listener = group.createServerEndpoint();
    listener.bind(address.socket(), 1);
    region = listener.registerMemory(block).execute().free().getMr();
  }

  @Override
  public RemoteBlock target() {
    return new RemoteBlock(region.getAddr(), region.getRkey());
  }

  @Override
  public void accept() throws Exception {
    end = listener.accept();
  }

  @Override
  public void pong(int rounds) throws Exception {
    if (end == null) {
      throw new IllegalStateException("pong: not connected");
    }
    Messages.pong(end, rounds, Limits.job().spin());
  }

  @Override
  public void close() throws IOException {
    listener.deregisterMemory(region);
    try {
      listener.close();
    } catch (InterruptedException e) {
      throw DisniEnd.interrupted(e);
    } finally {
      DisniEnd.close(end, group);
    }
  }
}
