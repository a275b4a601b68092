// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.verbena.meters.Backlog;
import io.verbena.meters.ConnectionMeter;
import io.verbena.meters.ConnectionState;
import io.verbena.meters.HcaMeter;
import io.verbena.meters.MeteredHca;
import io.verbena.meters.Meters;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Records the requests that channels post with bytes of their streams. */
final class SentRequests extends HcaMeter implements Meters {
  /** The number of bytes of each request with inline data. */
  final Queue<Integer> inline = new ConcurrentLinkedQueue<>();

  /** The number of bytes of each request whose data the HCA gathers. */
  final Queue<Integer> gathered = new ConcurrentLinkedQueue<>();

  /** The number of requests in flight. */
  final AtomicInteger inFlight = new AtomicInteger();

  @Override
  public HcaMeter hca(MeteredHca hca) {
    return this;
  }

  @Override
  public Watch watch(String adapter, String provider, Backlog backlog) {
    return () -> {};
  }

  @Override
  public ConnectionMeter connection(ConnectionState state, int slots) {
    return new ConnectionMeter() {
      @Override
      public void posted(int slot, SendWorkRequest request) {
        inFlight.incrementAndGet();
        note(request);
      }

      @Override
      public void forget(int slot) {
        inFlight.decrementAndGet();
      }

      @Override
      public void completed(int slot, CompletionStatus status) {
        inFlight.decrementAndGet();
      }
    };
  }

  private void note(SendWorkRequest request) {
    @Nullable ByteBuffer data = request.inlineData();
    if (data != null) {
      inline.add(data.remaining());
    } else if (request.buffers().totalLength() > 0) {
      gathered.add((int) request.buffers().totalLength());
    }
  }
}
