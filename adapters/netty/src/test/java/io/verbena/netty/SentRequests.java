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

/** The requests that channels have posted with bytes of their streams. */
final class SentRequests extends HcaMeter implements Meters {
  /** How many bytes each that had some took along, inline. */
  final Queue<Integer> inline = new ConcurrentLinkedQueue<>();

  /** How many bytes each of the others had the HCA gather. */
  final Queue<Integer> gathered = new ConcurrentLinkedQueue<>();

  /** How many are under way. */
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
