// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.stock;

import com.ibm.disni.RdmaActiveEndpoint;
import com.ibm.disni.RdmaActiveEndpointGroup;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.SVCPollCq;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint that sends numbers and checks the numbers that it receives. It always has a posted
 * receive, so that the peer never waits for one.
 */
final class NumberedEnd extends RdmaActiveEndpoint {
  /** A posted request was never done, although the HCA had time: the fault of rxe. */
  static final String UNDONE = "the HCA has left a send undone";

  /** A request was done, but the program was not notified: our fault, or DiSNI's. */
  static final String LOST = "a completion is lost";

  private static final int SLOTS = 2;
  private static final int SENT = SLOTS * Long.BYTES;
  private static final int SEND = SLOTS;
  private static final int PROBE = SLOTS + 1;
  private static final long LIMIT_MILLIS = 60_000;
  private static final long PROBE_MILLIS = 10_000;
  private static final long PAUSE_MILLIS = 1;

  private final LinkedBlockingQueue<IbvWC> completions = new LinkedBlockingQueue<>();
  private @Nullable StockBuffer buffer;
  private boolean sending;
  private long completed;
  private long received;

  NumberedEnd(RdmaActiveEndpointGroup<NumberedEnd> group, RdmaCmId id, boolean serverSide)
      throws IOException {
    super(group, id, serverSide);
  }

  @Override
  protected synchronized void init() throws IOException {
    super.init();
    buffer = new StockBuffer(this, SENT + Long.BYTES);
    for (int slot = 0; slot < SLOTS; slot++) {
      post(slot);
    }
  }

  private StockBuffer buffer() {
    return Objects.requireNonNull(buffer, "buffer");
  }

  private void post(int slot) throws IOException {
    buffer().receive(slot, slot * Long.BYTES, Long.BYTES);
  }

  @Override
  public void dispatchCqEvent(IbvWC completion) {
    completions.add(completion.clone());
  }

  /** Sends a number, after the previous one. */
  void send(long number) throws IOException, InterruptedException {
    awaitSent();
    buffer().memory().putLong(SENT, number);
    buffer().send(SEND, SENT, Long.BYTES);
    sending = true;
  }

  /** Waits until everything is sent. */
  void awaitSent() throws IOException, InterruptedException {
    while (sending) {
      await();
    }
  }

  /** Waits for the next message, which must have this number. */
  void receive(long expected) throws IOException, InterruptedException {
    while (completed == received) {
      await();
    }
    int slot = (int) (received % SLOTS);
    long number = buffer().memory().getLong(slot * Long.BYTES);
    if (number != expected) {
      throw new IllegalStateException(
          "message %d: %d (expected: %d)".formatted(received, number, expected));
    }
    // Posted only now, as the next message overwrites a posted buffer, even if it is still unread.
    post(slot);
    received++;
  }

  private void await() throws IOException, InterruptedException {
    IbvWC completion = completions.poll(LIMIT_MILLIS, TimeUnit.MILLISECONDS);
    if (completion == null) {
      throw new IllegalStateException(
          "no completion in 60 s, after %d messages: %s".formatted(received, reason()));
    }
    long id = completion.getWr_id();
    if (completion.getStatus() != 0) {
      throw new IllegalStateException("completion " + id + ": status " + completion.getStatus());
    }
    if (id == SEND && sending) {
      sending = false;
    } else if (id == completed % SLOTS) {
      completed++;
    } else {
      throw new IllegalStateException("completion %d out of turn: %s".formatted(id, LOST));
    }
  }

  /**
   * Returns the cause of a missing completion. Requests complete in order: another send completes
   * only if the earlier one was done.
   */
  private String reason() throws IOException, InterruptedException {
    IbvWC[] polled = {new IbvWC()};
    SVCPollCq poll = getCqProvider().getCQ().poll(polled, 1);
    if (poll.execute().getPolls() > 0) {
      return LOST + ": it is in its queue, but no event told so";
    }
    if (!sending) {
      return "no message came: the peer sent none, or its completion is missing";
    }
    buffer().send(PROBE, SENT, Long.BYTES);
    long start = System.nanoTime();
    while (System.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(PROBE_MILLIS)) {
      // DiSNI's thread polls, too: the first thread to poll gets the completion.
      IbvWC next =
          poll.execute().getPolls() > 0
              ? polled[0]
              : completions.poll(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
      if (next != null && next.getWr_id() == PROBE) {
        return LOST + ": that of a send, behind which another one is done";
      }
      if (next != null && next.getWr_id() == SEND) {
        return UNDONE + " until another one was posted";
      }
    }
    return UNDONE;
  }

  /** Releases what {@link #close} does not. */
  void release() throws IOException {
    buffer().release();
  }
}
