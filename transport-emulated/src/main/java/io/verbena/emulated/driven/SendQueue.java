// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.driven;

import io.verbena.emulated.engine.SendRing;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.hca.NextBind;
import io.verbena.emulated.hca.Ownership;
import io.verbena.emulated.hca.PaddedLong;
import io.verbena.emulated.hca.SendLimits;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairReading.Figure;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import java.nio.ByteBuffer;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The send queue of a driven queue pair: copies of posted requests, which the engine executes. The
 * owner of {@link #posting} posts, the polling thread calls {@link #free}, and the caller of the
 * engine calls the other methods.
 *
 * <p>The queue has as many slots as requests were ever outstanding at once, rounded up to a power
 * of two: most queue pairs use few of the slots that they request.
 */
public final class SendQueue implements SendRing {
  /** The number of slots of a new queue; a power of two. */
  private static final int FEW = 4;

  final Ownership posting = new Ownership();

  private final EmulatedQueuePair pair;
  private final SendLimits limits;
  private final int maxSend;
  private final boolean signalAll;
  private final int maxScatterGather;
  private final int maxInlineData;

  /**
   * The array is replaced by a longer one when it is full; outstanding requests stay the same
   * objects.
   */
  private volatile SendWorkRequest[] slots;

  /**
   * By slot: created for the slot's first request with inline data; accessed by the owner of {@link
   * #posting}.
   */
  private @Nullable ByteBuffer[] inlineCopies;

  private final NextBind nextBind = new NextBind();

  /** One past the last request that was posted. */
  private final PaddedLong posted = new PaddedLong();

  /** One past the last request whose completion was polled. */
  private final PaddedLong freed = new PaddedLong();

  SendQueue(EmulatedQueuePair pair, QueuePairOptions options) {
    this.pair = pair;
    limits = new SendLimits(pair, options);
    maxSend = options.maxSend();
    signalAll = options.signalAll();
    // A bind has a buffer, even where no request with data may have one.
    maxScatterGather = Math.max(1, options.maxSendScatterGather());
    maxInlineData = options.maxInlineData();
    slots = new SendWorkRequest[FEW];
    inlineCopies = new @Nullable ByteBuffer[FEW];
    for (int i = 0; i < FEW; i++) {
      slots[i] = new SendWorkRequest(maxScatterGather);
    }
  }

  /** Copies a request into the queue. Called by the owner of {@link #posting}. */
  void post(SendWorkRequest request) {
    limits.check(request);
    add(request);
  }

  /** Copies a bind of a type 1 window into the queue. Called by the owner of {@link #posting}. */
  void bind(SendWorkRequest request) {
    limits.checkBind(request);
    SendWorkRequest bind = nextBind.of(request);
    try {
      add(bind);
    } catch (PostException e) {
      nextBind.refused();
      throw e;
    }
  }

  private void add(SendWorkRequest request) {
    QueuePairState state = pair.state();
    if (!accepts(state)) {
      if (pair.isClosed()) {
        throw pair.closedError(request.id());
      }
      throw new PostException(
          VerbsError.INVALID, request.id(), "state: " + state + " (expected: RTS)");
    }
    long position = posted.getOpaque();
    long outstanding = position - freed.getAcquire();
    if (outstanding >= maxSend) {
      throw new PostException(
          VerbsError.NO_MEMORY,
          request.id(),
          "sends outstanding: " + maxSend + " (expected: < " + maxSend + ")");
    }
    SendWorkRequest[] ring = slots;
    if (outstanding >= ring.length) {
      ring = grow(ring, position);
    }
    int slot = (int) position & (ring.length - 1);
    SendWorkRequest copy = ring[slot];
    copy.copyFrom(request);
    ByteBuffer inline = request.inlineData();
    if (inline != null) {
      ByteBuffer place = inlineCopy(slot);
      place.clear().limit(inline.remaining());
      place.put(0, inline, inline.position(), inline.remaining());
      copy.inline(place);
    }
    if (signalAll) {
      copy.signaled();
    }
    posted.setRelease(position + 1);
  }

  /** Doubles the slots, all of which are in use; the engine may read the old array meanwhile. */
  private SendWorkRequest[] grow(SendWorkRequest[] full, long position) {
    int count = full.length;
    SendWorkRequest[] longer = new SendWorkRequest[2 * count];
    @Nullable ByteBuffer[] copies = new @Nullable ByteBuffer[2 * count];
    for (long each = position - count; each < position; each++) {
      int from = (int) each & (count - 1);
      int to = (int) each & (2 * count - 1);
      longer[to] = full[from];
      copies[to] = inlineCopies[from];
    }
    for (long each = position; each < position + count; each++) {
      longer[(int) each & (2 * count - 1)] = new SendWorkRequest(maxScatterGather);
    }
    inlineCopies = copies;
    slots = longer;
    return longer;
  }

  private ByteBuffer inlineCopy(int slot) {
    ByteBuffer copy = inlineCopies[slot];
    if (copy == null) {
      copy = ByteBuffer.allocate(maxInlineData);
      inlineCopies[slot] = copy;
    }
    return copy;
  }

  private static boolean accepts(QueuePairState state) {
    return switch (state) {
      case RTS, SQD, SQE, ERR -> true;
      case RESET, INIT, RTR -> false;
    };
  }

  /** Frees the slots of all requests before {@code position}. */
  void free(long position) {
    if (position > freed.getOpaque()) {
      freed.setRelease(position);
    }
  }

  /** Reads the positions of the queue. Thread-safe. */
  void read(Map<Figure, Long> into) {
    into.put(Figure.SENDS_DONE, freed.getAcquire());
    into.put(Figure.SENDS_POSTED, posted.getAcquire());
    into.put(Figure.SEND_QUEUE_SIZE, (long) maxSend);
  }

  /** Drops all posted requests, once threads that are still posting are done. */
  void clear() {
    posting.acquire();
    free(posted.getOpaque());
    posting.release();
  }

  @Override
  public long posted() {
    return posted.getAcquire();
  }

  @Override
  public SendWorkRequest request(long position) {
    SendWorkRequest[] ring = slots;
    return ring[(int) position & (ring.length - 1)];
  }
}
