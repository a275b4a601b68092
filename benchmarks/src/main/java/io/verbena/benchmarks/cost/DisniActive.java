// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import com.ibm.disni.RdmaPassiveEndpointGroup;
import java.io.IOException;
import java.nio.ByteBuffer;

/** The active end on stock DiSNI. */
final class DisniActive implements ActiveEnd {
  private final RdmaPassiveEndpointGroup<DisniEnd> group;
  private final DisniEnd end;
  private final RemoteBlock target;

  DisniActive(ConnectionAddress address, ByteBuffer block, RemoteBlock target) throws Exception {
    this.target = target;
    group = DisniEnd.group(block);
    end = group.createEndpoint();
    end.connect(address.socket(), (int) Limits.CONNECT.toMillis());
  }

  @Override
  public void ping(int rounds, RoundTrips times) throws Exception {
    Messages.ping(end, rounds, times, Limits.job().spin());
  }

  @Override
  public void read(int rounds, RoundTrips times) throws Exception {
    end.read(target, rounds, times, Limits.job().spin());
  }

  @Override
  public void write(int count, int length) throws Exception {
    end.write(target, count, length, Limits.job().spin());
  }

  @Override
  public void close() throws IOException {
    DisniEnd.close(end, group);
  }
}
