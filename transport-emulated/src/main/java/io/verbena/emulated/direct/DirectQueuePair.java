// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import io.verbena.emulated.hca.CompletionEntry;
import io.verbena.emulated.hca.CompletionRing;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.hca.EmulatedSharedReceiveQueue;
import io.verbena.emulated.hca.KeyEntry;
import io.verbena.emulated.hca.Ownership;
import io.verbena.emulated.hca.ReceiveRing;
import io.verbena.emulated.hca.TakenReceives;
import io.verbena.emulated.roce.RnrTimer;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairReading.Figure;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair of the direct fabric, whose peer is in this JVM. Its {@link DirectSendQueue} and
 * {@link ReceiveRing} do the work.
 */
final class DirectQueuePair extends EmulatedQueuePair {
  /** Stands for a completion queue entry that is not claimed yet. */
  static final long UNCLAIMED = -2;

  private final DirectFabric fabric;
  private final DirectSendQueue sends;
  private final ReceiveRing receives;

  /**
   * Not null with a shared receive queue, from which each message's receive passes through {@link
   * #receives}.
   */
  private final @Nullable TakenReceives taken;

  /**
   * For UD, to which many queue pairs send: owned by the sender whose message is being delivered.
   * Null for other types, whose messages the owner of the peer's send queue delivers.
   */
  private final @Nullable Ownership arrivals;

  /**
   * The receives whose completions a scheduler publishes later; null, like {@link #deferral},
   * without a scheduler.
   */
  private final @Nullable DeferredReceives deferredReceives;

  private final @Nullable Deferral deferral;
  private volatile @Nullable DirectQueuePair peer;

  /**
   * @param scheduler executes the requests later; null to execute them when they are posted
   */
  DirectQueuePair(
      DirectFabric fabric,
      EmulatedProtectionDomain domain,
      int number,
      QueuePairOptions options,
      @Nullable AsyncScheduler scheduler) {
    super(domain, number, options);
    this.fabric = fabric;
    sends = new DirectSendQueue(this, options, scheduler);
    DeferredSends deferredSends = sends.deferred();
    if (scheduler == null || deferredSends == null) {
      deferredReceives = null;
      deferral = null;
    } else {
      deferredReceives = new DeferredReceives(this);
      deferral = new Deferral(scheduler, deferredSends, deferredReceives);
    }
    EmulatedSharedReceiveQueue shared = shared();
    taken = shared == null ? null : new TakenReceives(shared, this);
    receives =
        shared == null
            ? new ReceiveRing(options.maxReceive(), options.maxReceiveScatterGather())
            : new ReceiveRing(1, shared.maxScatterGather());
    arrivals = type() == QueuePairType.UD ? new Ownership() : null;
  }

  DirectFabric fabric() {
    return fabric;
  }

  DirectSendQueue sends() {
    return sends;
  }

  ReceiveRing receives() {
    return receives;
  }

  /** Tells the scheduler, if there is one, that there may be work. */
  void schedule() {
    if (deferral != null) {
      deferral.schedule();
    }
  }

  /** Returns whether {@link #receives} holds a receive. Called by the thread that takes it. */
  boolean hasReceive() {
    return receives.hasNext() || (taken != null && taken.takeInto(receives) && receives.hasNext());
  }

  /**
   * Returns the ownership that senders to a UD queue pair take before they take a receive; null for
   * other types.
   */
  @Nullable Ownership arrivals() {
    return arrivals;
  }

  @Nullable DirectQueuePair peer() {
    return peer;
  }

  int rnrRetry() {
    return attributes().rnrRetry();
  }

  int retryCount() {
    return attributes().retryCount();
  }

  int timeout() {
    return attributes().timeout();
  }

  long peerRnrTimerNanos() {
    DirectQueuePair other = peer;
    return RnrTimer.nanos(other == null ? 0 : other.attributes().minRnrTimer());
  }

  /**
   * Returns the connected peer if it is in a state to answer, otherwise null. Called by the owner
   * of the send queue.
   */
  @Nullable DirectQueuePair reachablePeer() {
    DirectQueuePair other = peer;
    if (other == null || other.isClosed()) {
      other = findPeer();
    }
    // A packet from another queue pair is dropped.
    if (other == null || other.destination() != number()) {
      return null;
    }
    // So is a packet with another PSN than the expected one, unless it may begin the next message
    // of UC.
    if (other.receivePsn() != sendPsn() && isReliable()) {
      return null;
    }
    if (other.peer != this) {
      // The peer is moving to RTR and has not looked for its own peer yet. Before it takes anything
      // away it must wait for this end: either it sees this assignment, or the checks below and
      // later ones see its change.
      other.peer = this;
    }
    return other.state() == QueuePairState.RTS || other.takesMessage() ? other : null;
  }

  private boolean takesMessage() {
    if (!isReceiving()) {
      return false;
    }
    messageArrived();
    return true;
  }

  private @Nullable DirectQueuePair findPeer() {
    AddressVector vector = attributes().addressVector();
    EmulatedDevice there = vector == null ? null : fabric.device(vector.destination());
    // All queue pairs of a fabric are of one class.
    DirectQueuePair found = there == null ? null : (DirectQueuePair) there.queuePair(destination());
    if (found != null && (found.type() != type() || found.isClosed())) {
      found = null;
    }
    peer = found;
    if (found != null && found.destination() == number()) {
      // So that the peer, before it takes anything away, waits for the owner of this send queue.
      found.peer = this;
    }
    return found;
  }

  /**
   * Completes the receive that {@code sender}, the owner of the peer's send queue, has filled.
   *
   * @param entry a claimed entry of the completion queue, or {@link #UNCLAIMED}
   * @param completion the sender's completion, which lacks only the fields of the receive
   */
  void completeReceive(long entry, CompletionEntry completion, DirectSendQueue sender) {
    // On an unreliable queue pair, a message that does not fit costs only the receive.
    boolean fails =
        !completion.has(CompletionStatus.SUCCESS)
            && (isReliable() || !completion.has(CompletionStatus.LOC_LEN_ERR));
    // The state changes first: a program that sees the completion may reconnect at once.
    if (fails && moveToError()) {
      sender.afterRelease(this::flush);
    }
    boolean lost;
    if (entry == UNCLAIMED && deferredReceives != null) {
      lost = !deferredReceives.add(takeReceive(completion));
      schedule();
    } else {
      long claimed = entry == UNCLAIMED ? receiveCompletions().claim() : entry;
      publishReceive(claimed, completion);
      lost = claimed == CompletionRing.OVERRUN;
    }
    if (taken == null) {
      receives.readAhead();
    } else {
      taken.warm(receives);
    }
    if (lost) {
      sender.afterRelease(receiveCompletions()::overrun);
    }
  }

  private void publishReceive(long entry, CompletionEntry completion) {
    takeReceive(completion);
    if (entry != CompletionRing.OVERRUN) {
      receiveCompletions().publish(entry, completion);
    }
  }

  /** Takes the next receive, and sets its id and queue pair in the completion. */
  private CompletionEntry takeReceive(CompletionEntry completion) {
    return completion.of(number(), receiveAttachment()).completes(receives.id(), receives.take());
  }

  /**
   * {@inheritDoc}
   *
   * <p>Acquiring ownership stalls until the stores of the previous copy are visible. Checks and key
   * lookups need no ownership: done before, they cost nothing.
   */
  @Override
  public void postSend(SendWorkRequest request) {
    sends.check(request);
    KeyEntry local = localHint(request);
    KeyEntry remote = remoteHint(request);
    SendWorkRequest next = request.next();
    sends.ownership.acquire();
    try {
      sends.post(request, local, remote);
      while (next != null) {
        sends.check(next);
        sends.post(next, localHint(next), remoteHint(next));
        next = next.next();
      }
    } finally {
      sends.release();
    }
  }

  @Override
  public void bindMemoryWindow(SendWorkRequest request) {
    sends.checkBind(request);
    sends.ownership.acquire();
    try {
      sends.bind(request);
    } finally {
      sends.release();
    }
  }

  private @Nullable KeyEntry localHint(SendWorkRequest request) {
    return request.buffers().size() == 1 ? keys().find(request.buffers().lkey(0)) : null;
  }

  private @Nullable KeyEntry remoteHint(SendWorkRequest request) {
    DirectQueuePair other = peer;
    return other != null && request.opcode() != SendOpcode.SEND
        ? other.keys().find(request.remoteKey())
        : null;
  }

  @Override
  public void postReceive(ReceiveWorkRequest request) {
    if (taken != null) {
      throw new PostException(
          VerbsError.INVALID, request.id(), "the queue pair takes from a shared receive queue");
    }
    receives.posting.acquire();
    QueuePairState now = state();
    try {
      if (isClosed()) {
        throw closedError(request.id());
      }
      if (now == QueuePairState.RESET) {
        throw new PostException(
            VerbsError.INVALID, request.id(), "state: RESET (expected: INIT or later)");
      }
      for (ReceiveWorkRequest next = request; next != null; next = next.next()) {
        receives.post(next);
      }
    } finally {
      receives.posting.release();
      // Done even if a request was refused: the requests before it are posted.
      receivesPosted(now);
    }
  }

  /**
   * Resumes a sender that waits for receives, and flushes these in ERR. There is no fence between
   * the post and this check, since RNR is rare and every post would pay for the fence: a sender
   * that stalls at this moment and is missed looks again when its timer fires.
   *
   * @param before the state that the poster saw
   */
  private void receivesPosted(QueuePairState before) {
    receivePosted();
    if (before == QueuePairState.ERR || state() == QueuePairState.ERR) {
      flushReceives();
    }
  }

  @Override
  protected void receivePosted() {
    DirectQueuePair other = peer;
    if (other != null && other.sends.isStalled()) {
      other.sends.resume();
    }
  }

  @Override
  protected boolean isDraining() {
    return sends.isDraining();
  }

  @Override
  protected void readQueues(Map<Figure, Long> into) {
    sends.read(into);
    receives.read(taken, into);
  }

  @Override
  protected void freeSends(long position) {
    sends.free(position);
  }

  @Override
  protected void freeReceives(long position) {
    if (taken == null) {
      receives.free(position);
    } else {
      taken.polled(position);
    }
  }

  /** Nothing to do: requests read the attributes of both ends when they are executed. */
  @Override
  protected void attributesChanged() {}

  @Override
  protected Runnable entered(QueuePairState to) {
    return switch (to) {
      case RESET -> this::drop;
      case ERR -> this::flush;
      case RTR -> this::announce;
      case SQD -> {
        sends.startDraining();
        yield sends::drain;
      }
      case RTS -> sends::resume;
      case INIT, SQE -> () -> {};
    };
  }

  @Override
  protected void reportPolled() {
    if (taken != null) {
      taken.report();
    }
  }

  /** Resumes a peer that may have waited for this end to be ready to receive. */
  private void announce() {
    if (findPeer() != null) {
      receivePosted();
    }
  }

  @Override
  protected void flush() {
    sends.flush();
    flushReceives();
    reportLastReceive();
  }

  @Override
  protected void awaitHandover() {
    sends.ownership.awaitHandover();
    receives.posting.awaitHandover();
    if (deferredReceives != null) {
      deferredReceives.awaitHandover();
    }
    awaitPeer();
  }

  @Override
  protected void awaitCopies() {
    sends.ownership.awaitCopies();
    DirectQueuePair other = peer;
    if (other != null) {
      other.sends.ownership.awaitCopies();
    }
    if (arrivals != null) {
      arrivals.awaitCopies();
    }
  }

  @Override
  protected void beginWait() {
    sends.ownership.beginWait();
  }

  @Override
  protected void endWait() {
    sends.ownership.endWait();
  }

  private void awaitPeer() {
    DirectQueuePair other = peer;
    if (other != null) {
      other.sends.ownership.awaitHandover();
    }
    if (arrivals != null) {
      arrivals.awaitHandover();
    }
  }

  private void flushReceives() {
    awaitPeer();
    if (deferredReceives != null) {
      deferredReceives.showAll();
    }
    boolean overrun = false;
    CompletionEntry flushed = new CompletionEntry();
    receives.posting.acquire();
    try {
      while (state() == QueuePairState.ERR && receives.hasNext()) {
        long entry = receiveCompletions().claim();
        overrun |= entry == CompletionRing.OVERRUN;
        publishReceive(
            entry, flushed.ends(CompletionStatus.WR_FLUSH_ERR, CompletionOpcode.RECV, 0));
      }
    } finally {
      receives.posting.release();
    }
    if (overrun) {
      receiveCompletions().overrun();
    }
  }

  /**
   * Drops all pending requests without completion, once the peer does not work on them any more.
   */
  private void drop() {
    sends.clear();
    DirectQueuePair other = peer;
    if (other != null) {
      // The peer's next bytes are for another receive.
      other.sends.restart();
    }
    if (arrivals != null) {
      arrivals.awaitHandover();
    }
    receives.posting.acquire();
    long end = receives.clear();
    receives.posting.release();
    if (deferredReceives != null) {
      deferredReceives.clear();
    }
    if (taken != null) {
      taken.drop(end);
    }
    // Cleared only now: until here, threads that take something away have to wait for the peer,
    // too.
    peer = null;
  }
}
