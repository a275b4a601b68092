// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.stock;

import com.ibm.disni.RdmaActiveEndpoint;
import com.ibm.disni.RdmaActiveEndpointGroup;
import com.ibm.disni.RdmaEndpoint;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.SVCPollCq;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** An endpoint with a posted receive, whose completions come from a DiSNI thread. */
final class ActiveEnd extends RdmaActiveEndpoint {
  static final int LENGTH = 1024;
  static final int SENT = 0;
  static final int RECEIVED = LENGTH;
  private static final long LIMIT_NANOS = 60_000_000_000L;
  private static final long PAUSE_NANOS = 1_000_000;

  private final LinkedBlockingQueue<IbvWC> completions = new LinkedBlockingQueue<>();
  @Nullable private StockBuffer buffer;

  ActiveEnd(RdmaActiveEndpointGroup<ActiveEnd> group, RdmaCmId id, boolean serverSide)
      throws IOException {
    super(group, id, serverSide);
  }

  @Override
  protected synchronized void init() throws IOException {
    super.init();
    buffer = new StockBuffer(this, 2 * LENGTH);
    buffer.receive(RECEIVED, RECEIVED, LENGTH);
  }

  StockBuffer buffer() {
    return Objects.requireNonNull(buffer, "buffer");
  }

  @Override
  public void dispatchCqEvent(IbvWC completion) {
    completions.add(completion.clone());
  }

  /** Waits until a send and a receive complete, in any order. */
  void awaitBoth() throws IOException, InterruptedException {
    long first = await();
    if (await() == first) {
      throw new IllegalStateException("one of them twice");
    }
  }

  /** Waits for the next completion, which must be a success, and returns its id. */
  long await() throws IOException, InterruptedException {
    IbvWC completion = completions.poll(MissingCompletion.limit(buffer()), TimeUnit.NANOSECONDS);
    if (completion == null) {
      IbvWC[] polled = {new IbvWC()};
      SVCPollCq call = getCqProvider().getCQ().poll(polled, 1);
      // DiSNI's thread polls, too: the first thread to poll gets the completion.
      throw MissingCompletion.reason(
          buffer(), () -> call.execute().getPolls() > 0 ? polled[0] : completions.poll());
    }
    if (completion.getStatus() != 0) {
      throw new IllegalStateException(
          "completion " + completion.getWr_id() + ": status " + completion.getStatus());
    }
    long id = completion.getWr_id();
    if (id != RECEIVED) {
      buffer().sent();
    }
    return id;
  }

  /** Waits until the peer has disconnected. */
  static void awaitDisconnect(RdmaEndpoint end) {
    long start = System.nanoTime();
    while (end.isConnected()) {
      if (System.nanoTime() - start > LIMIT_NANOS) {
        throw new IllegalStateException("still connected after 60 s");
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }
}
