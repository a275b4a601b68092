// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

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
 * The send queue of a packet queue pair: copies of posted requests, which the engine works off.
 * Posting belongs to the holder of {@link #posting}, {@link #free} to whoever polls, and the rest
 * to the caller of the engine.
 */
final class PacketSendQueue implements SendRing {
  final Ownership posting = new Ownership();

  private final EmulatedQueuePair pair;
  private final SendLimits limits;
  private final int maxSend;
  private final boolean signalAll;
  private final SendWorkRequest[] slots;
  private final @Nullable ByteBuffer[] inlineCopies;
  private final NextBind nextBind = new NextBind();

  /** One past the last request that was posted. */
  private final PaddedLong posted = new PaddedLong();

  /** One past the last request whose completion was polled. */
  private final PaddedLong freed = new PaddedLong();

  PacketSendQueue(EmulatedQueuePair pair, QueuePairOptions options) {
    this.pair = pair;
    limits = new SendLimits(pair, options);
    maxSend = options.maxSend();
    signalAll = options.signalAll();
    slots = new SendWorkRequest[maxSend];
    inlineCopies = new @Nullable ByteBuffer[maxSend];
    for (int i = 0; i < maxSend; i++) {
      // A bind has a buffer, even where no request with data may have one.
      slots[i] = new SendWorkRequest(Math.max(1, options.maxSendScatterGather()));
      inlineCopies[i] =
          options.maxInlineData() == 0 ? null : ByteBuffer.allocate(options.maxInlineData());
    }
  }

  /** Copies a request in; for the holder of {@link #posting}. */
  void post(SendWorkRequest request) {
    limits.check(request);
    add(request);
  }

  /** Likewise a bind of a window of type 1. */
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
    if (position - freed.getAcquire() >= maxSend) {
      throw new PostException(
          VerbsError.NO_MEMORY,
          request.id(),
          "sends outstanding: " + maxSend + " (expected: < " + maxSend + ")");
    }
    int slot = (int) (position % maxSend);
    SendWorkRequest copy = slots[slot];
    copy.copyFrom(request);
    ByteBuffer inline = request.inlineData();
    ByteBuffer place = inlineCopies[slot];
    if (inline != null && place != null) {
      place.clear().limit(inline.remaining());
      place.put(0, inline, inline.position(), inline.remaining());
      copy.inline(place);
    }
    if (signalAll) {
      copy.signaled();
    }
    posted.setRelease(position + 1);
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

  /** Reads how far it is; for anybody. */
  void read(Map<Figure, Long> into) {
    into.put(Figure.SENDS_DONE, freed.getAcquire());
    into.put(Figure.SENDS_POSTED, posted.getAcquire());
    into.put(Figure.SEND_QUEUE_SIZE, (long) maxSend);
  }

  /** Drops all that was posted, once those who still post have seen that they may not any more. */
  void clear() {
    posting.acquire();
    free(posted.getOpaque());
    posting.release();
  }

  @Override
  public int capacity() {
    return maxSend;
  }

  @Override
  public long posted() {
    return posted.getAcquire();
  }

  @Override
  public SendWorkRequest request(long position) {
    return slots[(int) (position % maxSend)];
  }
}
