// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import io.verbena.emulated.engine.RequestOpcodes;
import io.verbena.emulated.hca.CompletionEntry;
import io.verbena.emulated.hca.CompletionRing;
import io.verbena.emulated.hca.EmulatedCompletionQueue;
import io.verbena.emulated.hca.EmulatedMemoryWindow;
import io.verbena.emulated.hca.KeyEntry;
import io.verbena.emulated.hca.NextBind;
import io.verbena.emulated.hca.Ownership;
import io.verbena.emulated.hca.PaddedLong;
import io.verbena.emulated.hca.SendLimits;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairReading.Figure;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The send queue of a queue pair. The posting thread executes a request. Only if the peer is not
 * ready, the request is copied and waits, with all requests behind it, for the peer's next receive,
 * a change of the peer's state, or the retry timer, which also limits the wait.
 *
 * <pre>{@code
 *           post                        peer not ready
 * (caller) ------> attempt ----------------------------> waiting --- resume: receive posted, peer in
 *                    |  done or failed                      |        RTR, timer ---> attempt
 *                    v                                      | retries used up
 *                 completion <------------------------------+ or flushed
 * }</pre>
 *
 * <p>In SQD the requests that were posted before SQD continue like this, and requests that are
 * posted in SQD wait; the queue is drained when only the latter are left.
 */
final class DirectSendQueue {
  private static final long UNKNOWN = -1;

  final Ownership ownership = new Ownership();

  private final DirectQueuePair pair;
  private final DirectTransfer transfer;
  private final int maxSend;
  private final int maxMessage;
  private final SendLimits limits;
  private final boolean signalAll;

  private final WaitingSends waiting;
  private final SendRetry retry;
  private final NextBind nextBind = new NextBind();

  /**
   * The progress of requests that a scheduler executes; null if the posting thread executes them.
   */
  private final @Nullable DeferredSends deferred;

  /** One past the last request whose completion was polled. */
  private final PaddedLong freed = new PaddedLong();

  /**
   * 1 while requests wait. The peer reads it, without a fence, whenever it posts a receive: so it
   * has a cache line of its own, apart from the fields that every post changes.
   */
  private final PaddedLong stalled = new PaddedLong();

  /**
   * Used by the owner only, for its own completions and for the peer's completions of its messages.
   */
  private final CompletionEntry completion = new CompletionEntry();

  /** True while requests that were posted before SQD may be left. */
  private volatile boolean draining;

  // The fields below are accessed by the owner only.
  private long posted;
  private long freedSeen;
  private long firstWaiting;

  /** In SQD: one past the last request that was posted before SQD; otherwise {@link #UNKNOWN}. */
  private long drainEnd = UNKNOWN;

  private List<Runnable> afterRelease = new ArrayList<>(2);

  DirectSendQueue(
      DirectQueuePair pair, QueuePairOptions options, @Nullable AsyncScheduler scheduler) {
    this.pair = pair;
    transfer = new DirectTransfer(pair, scheduler);
    maxSend = options.maxSend();
    maxMessage = pair.device().attributes().maxMessageSize();
    limits = new SendLimits(pair, options);
    signalAll = options.signalAll();
    deferred = scheduler == null ? null : new DeferredSends(this, pair, maxSend);
    waiting = new WaitingSends(options);
    retry = new SendRetry(pair, this::timerFired);
  }

  @Nullable DeferredSends deferred() {
    return deferred;
  }

  /** Returns a completion to fill and publish at once. Called by the owner. */
  CompletionEntry completion() {
    return completion;
  }

  /** Frees the slots of all requests before {@code position}. */
  void free(long position) {
    if (position > freed.getOpaque()) {
      freed.setRelease(position);
    }
  }

  /**
   * Reads the positions of the queue. Called by any thread, which may see the owner's count a
   * moment late.
   */
  void read(Map<Figure, Long> into) {
    into.put(Figure.SENDS_DONE, freed.getAcquire());
    into.put(Figure.SENDS_POSTED, posted);
    into.put(Figure.SEND_QUEUE_SIZE, (long) maxSend);
  }

  boolean isStalled() {
    return stalled.getAcquire() != 0;
  }

  /** Releases ownership, and then runs the actions that must not run under it. */
  void release() {
    if (afterRelease.isEmpty()) {
      ownership.release();
    } else {
      releaseAndAct();
    }
  }

  private void releaseAndAct() {
    List<Runnable> actions = afterRelease;
    afterRelease = new ArrayList<>(2);
    ownership.release();
    for (Runnable action : actions) {
      action.run();
    }
  }

  /** Runs an action once ownership is released. Called by the owner. */
  void afterRelease(Runnable action) {
    afterRelease.add(action);
  }

  /**
   * Executes a checked request, or makes it wait. Called by the owner.
   *
   * @param local the entry found for the key of its first buffer, or null; may be outdated
   * @param remote the entry found for its remote key, or null; may be outdated
   */
  void post(SendWorkRequest request, @Nullable KeyEntry local, @Nullable KeyEntry remote) {
    QueuePairState state = pair.state();
    if (state != QueuePairState.RTS) {
      requireMayPost(request, state);
    }
    long position = posted;
    if (position - freedSeen >= maxSend) {
      freedSeen = freed.getAcquire();
      if (position - freedSeen >= maxSend) {
        throw new PostException(
            VerbsError.NO_MEMORY,
            request.id(),
            "sends outstanding: " + maxSend + " (expected: < " + maxSend + ")");
      }
    }
    if (firstWaiting < position) {
      waiting.keep(request, position);
      posted = position + 1;
      noteWhetherInDrain(state, position);
      pair.schedule();
    } else if (state != QueuePairState.RTS) {
      postAside(request, position, state);
    } else if (deferred != null) {
      waiting.keep(request, position);
      posted = position + 1;
      pair.schedule();
    } else {
      TransferResult result = attempt(request, local, remote);
      if (result.isStall()) {
        waiting.keep(request, position);
        posted = position + 1;
        stalled();
        advance();
      } else {
        posted = position + 1;
        firstWaiting = posted;
        end(request, position, result);
      }
    }
  }

  private void requireMayPost(SendWorkRequest request, QueuePairState state) {
    if (pair.isClosed()) {
      throw pair.closedError(request.id());
    }
    switch (state) {
      case RESET, INIT, RTR ->
          throw new PostException(
              VerbsError.INVALID, request.id(), "state: " + state + " (expected: RTS)");
      case RTS, SQD, SQE, ERR -> {}
    }
  }

  /**
   * Posts a request in a state in which nothing is sent (SQD, SQE, ERR), while no request waits.
   */
  private void postAside(SendWorkRequest request, long position, QueuePairState state) {
    if (state == QueuePairState.SQD) {
      waiting.keep(request, position);
      posted = position + 1;
      noteWhetherInDrain(state, position);
      stalled.setRelease(1);
    } else {
      posted = position + 1;
      firstWaiting = posted;
      complete(request, position, CompletionStatus.WR_FLUSH_ERR);
      if (deferred != null) {
        deferred.clear(posted);
      }
    }
  }

  private void noteWhetherInDrain(QueuePairState state, long position) {
    if (state == QueuePairState.SQD && drainEnd == UNKNOWN) {
      drainEnd = position;
    }
  }

  /**
   * Checks a request, regardless of the queue pair's state. Thread-safe.
   *
   * @throws PostException if the request breaks a limit, or needs a capability that is not
   *     supported
   */
  void check(SendWorkRequest request) {
    limits.check(request);
  }

  /** Checks a bind of a type 1 window. */
  void checkBind(SendWorkRequest request) {
    limits.checkBind(request);
  }

  /** Executes a bind, or makes it wait. Called by the owner. */
  void bind(SendWorkRequest request) {
    SendWorkRequest bind = nextBind.of(request);
    try {
      post(bind, null, null);
    } catch (PostException e) {
      nextBind.refused();
      throw e;
    }
  }

  private TransferResult attempt(
      SendWorkRequest request, @Nullable KeyEntry local, @Nullable KeyEntry remote) {
    SendOpcode opcode = request.opcode();
    if (opcode == SendOpcode.LOCAL_INV || opcode == SendOpcode.BIND_MW) {
      return doLocally(request);
    }
    try {
      return request.buffers().totalLength() > maxMessage
          ? TransferResult.LOCAL_LENGTH
          : transfer.attempt(request, local, remote);
    } catch (RuntimeException | Error e) {
      // For instance an error that the JVM throws late: the request fails, so that no thread waits
      // for it in vain.
      transfer.abandon();
      return TransferResult.LOCAL_PROTECTION;
    }
  }

  private TransferResult doLocally(SendWorkRequest request) {
    if (request.opcode() == SendOpcode.BIND_MW) {
      return EmulatedMemoryWindow.bind(request, pair)
          ? TransferResult.DONE
          : TransferResult.BIND_REFUSED;
    }
    return pair.invalidateLocally(request.remoteKey())
        ? TransferResult.DONE
        : TransferResult.LOCAL_OPERATION;
  }

  /** Acquires ownership and continues with the waiting requests, or lets the scheduler do so. */
  void resume() {
    ownership.acquire();
    try {
      goOn();
    } finally {
      release();
    }
  }

  private void goOn() {
    QueuePairState state = pair.state();
    if (state == QueuePairState.RTS) {
      drainEnd = UNKNOWN;
    }
    boolean sending = state == QueuePairState.RTS || state == QueuePairState.SQD;
    if (sending && (isStalled() || deferred != null)) {
      advance();
    }
  }

  /** Makes {@link #isDraining} true until the queue is drained. */
  void startDraining() {
    draining = true;
  }

  boolean isDraining() {
    return draining;
  }

  /** In SQD: finishes the requests that were posted before SQD, now or when the peer is ready. */
  void drain() {
    ownership.acquire();
    try {
      if (pair.state() == QueuePairState.SQD) {
        if (drainEnd == UNKNOWN) {
          drainEnd = posted;
        }
        advance();
      }
    } finally {
      release();
    }
  }

  private void endDrain() {
    if (draining && drainEnd != UNKNOWN && firstWaiting >= drainEnd) {
      draining = false;
      if (pair.attributes().drainedNotify()) {
        pair.device().raise(AsyncEvent.Type.SQ_DRAINED, pair);
      }
    }
  }

  /**
   * Executes the waiting requests, until none is left or the peer is not ready again. Called by the
   * owner.
   */
  private void advance() {
    if (deferred != null) {
      deferred.resume();
      pair.schedule();
      endDrain();
      return;
    }
    long end = end();
    while (firstWaiting < end) {
      long position = firstWaiting;
      SendWorkRequest request = request(position);
      TransferResult result = attempt(request);
      if (result.isStall() && mayWait(result)) {
        return;
      }
      firstWaiting++;
      retry.proceeded();
      end(request, position, result);
      if (result != TransferResult.DONE) {
        return;
      }
    }
    if (firstWaiting == posted) {
      stalled.setRelease(0);
    }
    endDrain();
  }

  /**
   * Makes visible to the peer that this queue waits for its next receive or change of state. Called
   * by the owner.
   */
  void stalled() {
    stalled.setRelease(1);
    VarHandle.fullFence();
  }

  /**
   * Returns whether a stalled request may wait further, and if so sets the time to retry it. Called
   * by the owner.
   */
  boolean mayWait(TransferResult result) {
    return retry.mayWait(result);
  }

  private void timerFired() {
    ownership.acquire();
    try {
      retry.fired();
      goOn();
    } finally {
      release();
    }
  }

  private void end(SendWorkRequest request, long position, TransferResult result) {
    if (result == TransferResult.DONE) {
      if (signalAll || (request.flags() & SendWorkRequest.SIGNALED) != 0) {
        complete(request, position, CompletionStatus.SUCCESS);
      }
      return;
    }
    // The states change first: a program that sees the completion may reconnect both ends at once.
    if (pair.isReliable()) {
      if (deferred == null) {
        stopPeerThatRefused(result);
      }
      pair.moveToError();
      afterRelease(pair::flush);
    } else {
      pair.moveToSendError();
    }
    if (pair.state() == QueuePairState.RESET) {
      // The reset drops the request, which may have failed only because the reset cleared
      // attributes.
      return;
    }
    complete(request, position, result.status);
    if (!pair.isReliable()) {
      flushWaiting();
    }
  }

  /**
   * Moves the peer to ERR if it has refused a request. Called under the same ownership as the
   * attempt, so that a reset of the peer waits for both.
   */
  void stopPeerThatRefused(TransferResult result) {
    DirectQueuePair peer = pair.peer();
    if (result.isNak() && peer != null && peer.moveToError()) {
      afterRelease(peer::flush);
    }
  }

  /** Returns the position of the oldest request that is not completed. Called by the owner. */
  long first() {
    return firstWaiting;
  }

  /**
   * Returns one past the position of the youngest request that may be executed now. Called by the
   * owner.
   */
  long end() {
    return drainEnd == UNKNOWN ? posted : drainEnd;
  }

  /** Returns a request that was kept. Called by the owner. */
  SendWorkRequest request(long position) {
    return waiting.request(position);
  }

  /** Tries a request that was kept. Called by the owner. */
  TransferResult attempt(SendWorkRequest request) {
    return attempt(request, null, null);
  }

  /**
   * Returns whether a READ or atomic may be sent, and the peer would execute it now. Called by the
   * owner.
   */
  boolean isServed(SendWorkRequest request) {
    return request.buffers().totalLength() <= maxMessage && transfer.isServed(request);
  }

  /**
   * Tries a kept request that the peer received before another one, which was tried just now and
   * may have stopped the peer. Called by the owner.
   */
  TransferResult attemptHadByPeer(SendWorkRequest request) {
    transfer.hadByPeer(true);
    TransferResult result = attempt(request);
    transfer.hadByPeer(false);
    return result;
  }

  /** Records that nothing stalls the oldest request any more. Called by the owner. */
  void proceeded() {
    retry.proceeded();
    stalled.setRelease(0);
  }

  /** Completes the oldest request. Called by the owner. */
  void endFirst(TransferResult result) {
    long position = firstWaiting++;
    end(request(position), position, result);
    endDrain();
  }

  private void complete(SendWorkRequest request, long position, CompletionStatus status) {
    EmulatedCompletionQueue queue = pair.sendCompletions();
    long entry = queue.claim();
    if (entry == CompletionRing.OVERRUN) {
      afterRelease(queue::overrun);
      return;
    }
    int bytes = status == CompletionStatus.SUCCESS ? (int) request.buffers().totalLength() : 0;
    queue.publish(
        entry,
        completion
            .ends(status, RequestOpcodes.completion(request.opcode()), bytes)
            .of(pair.number(), pair.sendAttachment())
            .completes(request.id(), position + 1));
  }

  /** Completes all waiting requests as flushed, unless the queue pair has left ERR since. */
  void flush() {
    ownership.acquire();
    try {
      if (pair.state() == QueuePairState.ERR) {
        if (deferred != null) {
          deferred.showAll();
        }
        flushWaiting();
      }
    } finally {
      release();
    }
  }

  private void flushWaiting() {
    while (firstWaiting < posted) {
      complete(request(firstWaiting), firstWaiting, CompletionStatus.WR_FLUSH_ERR);
      firstWaiting++;
    }
    nothingWaits();
  }

  private void nothingWaits() {
    proceeded();
    drainEnd = UNKNOWN;
    draining = false;
    if (deferred != null) {
      transfer.restart();
      deferred.clear(posted);
    }
  }

  /** Acquires ownership and restarts a partly moved message from its beginning. */
  void restart() {
    ownership.acquire();
    transfer.restart();
    release();
  }

  /** Drops all waiting requests, without completion. */
  void clear() {
    ownership.acquire();
    try {
      firstWaiting = posted;
      free(posted);
      nothingWaits();
    } finally {
      release();
    }
  }
}
