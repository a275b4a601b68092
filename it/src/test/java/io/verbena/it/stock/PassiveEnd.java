// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.stock;

import com.ibm.disni.RdmaEndpoint;
import com.ibm.disni.RdmaEndpointGroup;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.SVCPollCq;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** An endpoint with a posted receive that polls for its completions itself. */
final class PassiveEnd extends RdmaEndpoint {
  static final int LENGTH = 64 << 10;
  static final int MESSAGE = 16;
  static final int SENT = LENGTH;
  static final int RECEIVED = LENGTH + MESSAGE;

  private static final long PAUSE_NANOS = 50_000;

  private final IbvWC[] completion = {new IbvWC()};
  private @Nullable StockBuffer buffer;
  private @Nullable SVCPollCq poll;

  PassiveEnd(RdmaEndpointGroup<PassiveEnd> group, RdmaCmId id, boolean serverSide)
      throws IOException {
    super(group, id, serverSide);
  }

  @Override
  protected synchronized void init() throws IOException {
    super.init();
    buffer = new StockBuffer(this, LENGTH + 2 * MESSAGE);
    poll = getCqProvider().getCQ().poll(completion, 1);
    receive();
  }

  StockBuffer buffer() {
    return Objects.requireNonNull(buffer, "buffer");
  }

  void receive() throws IOException {
    buffer().receive(RECEIVED, RECEIVED, MESSAGE);
  }

  /** Waits for the next completion, which must be a success, and returns its id. */
  long await() throws IOException {
    SVCPollCq call = Objects.requireNonNull(poll, "poll");
    long start = System.nanoTime();
    while (call.execute().getPolls() == 0) {
      if (System.nanoTime() - start > MissingCompletion.limit(buffer())) {
        throw MissingCompletion.reason(
            buffer(), () -> call.execute().getPolls() > 0 ? completion[0] : null);
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    if (completion[0].getStatus() != 0) {
      throw new IllegalStateException(
          "completion " + completion[0].getWr_id() + ": status " + completion[0].getStatus());
    }
    long id = completion[0].getWr_id();
    if (id != RECEIVED) {
      buffer().sent();
    }
    return id;
  }

  /** Releases what DiSNI's own endpoint does not. */
  void release() throws IOException, InterruptedException {
    Objects.requireNonNull(poll, "poll").free();
    buffer().release();
    close();
    getCqProvider().close();
  }
}
