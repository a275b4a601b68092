package io.verbena.it.interop;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.node.Side;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The messages of rping ({@code librdmacm/examples/rping.c} in rdma-core) over one connection, for
 * either end: an advertisement of 16 bytes (address, rkey and size in network order), of which the
 * server's are empty and only say "go on".
 *
 * <pre>
 *   client                          server
 *   SEND advert of the source  ->
 *                              <-   READ of the source
 *                              <-   SEND "go on"
 *   SEND advert of the sink    ->
 *                              <-   WRITE into the sink
 *                              <-   SEND "go on"
 * </pre>
 */
final class RpingProtocol {
  private static final int ADVERT = 16;
  private static final int SEND = 0;
  private static final int RECEIVE = ADVERT;
  private static final long RECEIVED = 1;
  private static final long SENT = 2;
  private static final long MOVED = 3;

  /** Where the data begin in the memory of a side. */
  static final int DATA = 64;

  private final Side side;
  private final QueuePair pair;
  private boolean received;
  private boolean moved;
  private int sending;

  /** Posts the first receive; before the connection is established. */
  RpingProtocol(Side side, QueuePair pair) {
    this.side = side;
    this.pair = pair;
    side.receive(pair, RECEIVED, RECEIVE, ADVERT);
  }

  /** Tells the peer where a part of our memory is. */
  void advertise(int offset, int length) throws InterruptedException {
    while (sending > 0) {
      step();
    }
    side.memory()
        .putLong(SEND, side.region().address() + offset)
        .putInt(SEND + 8, side.region().rkey())
        .putInt(SEND + 12, length);
    sending++;
    side.post(pair, new SendWorkRequest().send().id(SENT), SEND, ADVERT);
  }

  /** Says "go on". */
  void goOn() throws InterruptedException {
    advertise(0, 0);
  }

  /**
   * Waits for the peer's message.
   *
   * @return its 16 bytes, or null if the connection ended instead
   */
  @Nullable ByteBuffer awaitMessage() throws InterruptedException {
    while (!received) {
      if (!step()) {
        return null;
      }
    }
    received = false;
    byte[] message = new byte[ADVERT];
    side.memory().get(RECEIVE, message);
    side.receive(pair, RECEIVED, RECEIVE, ADVERT);
    return ByteBuffer.wrap(message);
  }

  /** Reads what the peer advertised to {@link #DATA}, or writes it from there. */
  void move(SendWorkRequest request, int length) throws InterruptedException {
    side.post(pair, request.id(MOVED), DATA, length);
    while (!moved) {
      assertThat(step()).as("connected").isTrue();
    }
    moved = false;
  }

  /** Takes one completion; false if it is the flush that ends the connection. */
  private boolean step() throws InterruptedException {
    WorkCompletion completion = side.completion();
    if (completion.workRequestId() == RECEIVED && !completion.isSuccess()) {
      return false;
    }
    assertThat(completion.isSuccess()).as("%s", completion).isTrue();
    if (completion.workRequestId() == RECEIVED) {
      assertThat(completion.byteLength()).isEqualTo(ADVERT);
      received = true;
    } else if (completion.workRequestId() == SENT) {
      sending--;
    } else {
      moved = true;
    }
    return true;
  }
}
