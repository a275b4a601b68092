package io.verbena.it.stock;

import com.ibm.disni.RdmaActiveEndpoint;
import com.ibm.disni.RdmaActiveEndpointGroup;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCmId;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** An endpoint whose completions a thread of DiSNI's hands over, with a receive posted. */
final class ActiveEnd extends RdmaActiveEndpoint {
  static final int LENGTH = 1024;
  static final int SENT = 0;
  static final int RECEIVED = LENGTH;

  /** Numbers of {@code enum ibv_wc_status}. */
  private static final int SUCCESS = 0;

  private static final int FLUSHED = 5;

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

  /** Waits for a send and a receive to complete, in whichever order. */
  void awaitBoth() throws InterruptedException {
    long first = await();
    if (await() == first) {
      throw new IllegalStateException("one of them twice");
    }
  }

  /** Waits for the next completion, a good one, and answers its id. */
  long await() throws InterruptedException {
    IbvWC completion = completions.poll(60, TimeUnit.SECONDS);
    if (completion == null) {
      throw new IllegalStateException("no completion in 60 s");
    }
    if (completion.getStatus() != SUCCESS) {
      throw new IllegalStateException(
          "completion " + completion.getWr_id() + ": status " + completion.getStatus());
    }
    return completion.getWr_id();
  }

  /** Waits until the peer has gone: the receive that is still posted is flushed. */
  void awaitFlush() throws InterruptedException {
    IbvWC completion = completions.poll(60, TimeUnit.SECONDS);
    if (completion == null || completion.getStatus() != FLUSHED) {
      throw new IllegalStateException("no flush, but " + completion);
    }
  }
}
