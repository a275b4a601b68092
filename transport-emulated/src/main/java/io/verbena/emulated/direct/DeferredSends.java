// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import io.verbena.emulated.engine.RequestOpcodes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The progress of the requests of a {@link DirectSendQueue} that an {@link AsyncScheduler}
 * executes. It executes them in order, except that a SEND or a WRITE without FENCE may pass
 * outstanding READs and atomics. It publishes their completions later, in order.
 *
 * <pre>
 *  completion shown ... | done, not shown ... | READs, atomics, some already passed | not begun ...
 *                       first                 undone                                        end
 * </pre>
 */
final class DeferredSends {
  private final DirectSendQueue queue;
  private final DirectQueuePair pair;

  /**
   * By slot: the result of a request that was executed and whose completion is not published,
   * otherwise null.
   */
  private final @Nullable TransferResult[] results;

  // The fields below are accessed by the owner of the queue only.
  private long undone;
  private boolean failed;
  private boolean waits;

  DeferredSends(DirectSendQueue queue, DirectQueuePair pair, int maxSend) {
    this.queue = queue;
    this.pair = pair;
    results = new @Nullable TransferResult[maxSend];
  }

  /**
   * Acquires the queue and takes one of the steps that are allowed now; returns false if there is
   * none.
   */
  boolean step(SplittableRandom random) {
    queue.ownership.acquire();
    try {
      boolean canShow = undone > queue.first();
      boolean canDo = undone < queue.end() && !failed && !waits && mayDo(pair.state());
      if (canDo && (!canShow || random.nextInt(3) > 0)) {
        perform(choose(random));
      } else if (canShow) {
        showFirst();
      }
      return canDo || canShow;
    } finally {
      queue.release();
    }
  }

  private static boolean mayDo(QueuePairState state) {
    return state == QueuePairState.RTS || state == QueuePairState.SQD;
  }

  /**
   * Returns the position of the oldest request that is not executed, or of one that may pass it.
   */
  private long choose(SplittableRandom random) {
    if (!RequestOpcodes.isReadOrAtomic(queue.request(undone).opcode()) || random.nextBoolean()) {
      return undone;
    }
    int reads = 0;
    for (long position = undone; position < queue.end(); position++) {
      SendWorkRequest request = queue.request(position);
      if (RequestOpcodes.isReadOrAtomic(request.opcode())) {
        // No request may pass a READ or atomic beyond the limit of outstanding ones, which has not
        // begun, or one that the peer refuses: the peer takes no request behind that one.
        if (++reads > pair.attributes().maxReadAtomic() || !queue.isServed(request)) {
          break;
        }
      } else if (result(position) == null) {
        return mayPass(request) ? position : undone;
      }
    }
    return undone;
  }

  private static boolean mayPass(SendWorkRequest request) {
    return switch (request.opcode()) {
      case SEND, SEND_WITH_IMM, RDMA_WRITE, RDMA_WRITE_WITH_IMM ->
          (request.flags() & SendWorkRequest.FENCE) == 0;
      default -> false;
    };
  }

  /** Executes a request or a part of it; later steps execute the rest. */
  private void perform(long position) {
    TransferResult result = queue.attempt(queue.request(position));
    if (result == TransferResult.UNDER_WAY) {
      return;
    }
    if (position > undone && (result.isStall() || result == TransferResult.LOCAL_LENGTH)) {
      // The request does not leave this end, so it cannot pass the older ones.
      return;
    }
    if (result.isStall()) {
      if (!queue.isStalled()) {
        // The request is tried once more, after the peer can see that this end waits for it.
        queue.stalled();
        return;
      }
      if (queue.mayWait(result)) {
        waits = true;
        return;
      }
    }
    if (result != TransferResult.DONE) {
      // The peer answered the earlier requests, and stops now.
      boolean answered = finishOlder(position);
      queue.stopPeerThatRefused(result);
      if (!answered) {
        return;
      }
    }
    if (!failed) {
      done(position, result);
    }
  }

  /**
   * Finishes the requests before {@code position}, which the peer has received. Returns false if
   * the peer was reset meanwhile: the requests are then retried like those whose answers were lost.
   */
  private boolean finishOlder(long position) {
    while (undone < position && !failed) {
      TransferResult result;
      do {
        result = queue.attemptHadByPeer(queue.request(undone));
      } while (result == TransferResult.UNDER_WAY);
      if (result.isStall()) {
        return false;
      }
      queue.stopPeerThatRefused(result);
      done(undone, result);
    }
    return true;
  }

  private void done(long position, TransferResult result) {
    results[slot(position)] = result;
    if (result != TransferResult.DONE) {
      failed = true;
      // Requests behind a failed one are flushed, even those that have passed it.
      for (long behind = position + 1; behind < queue.end(); behind++) {
        results[slot(behind)] = null;
      }
    }
    while (undone < queue.end() && result(undone) != null) {
      undone++;
    }
    queue.proceeded();
  }

  private @Nullable TransferResult result(long position) {
    return results[slot(position)];
  }

  private int slot(long position) {
    return (int) (position % results.length);
  }

  private void showFirst() {
    long position = queue.first();
    TransferResult result = result(position);
    if (result == null) {
      throw new AssertionError("request " + position + " is not done");
    }
    results[slot(position)] = null;
    queue.endFirst(result);
  }

  /** Publishes the completions of all requests that were executed in order. Called by the owner. */
  void showAll() {
    while (queue.first() < undone) {
      showFirst();
    }
  }

  /** Ends a wait for the peer, which may be ready now. Called by the owner. */
  void resume() {
    waits = false;
  }

  /**
   * Drops everything: the queue is empty, and the next request is at {@code end}. Called by the
   * owner.
   */
  void clear(long end) {
    Arrays.fill(results, null);
    undone = end;
    failed = false;
    waits = false;
  }
}
