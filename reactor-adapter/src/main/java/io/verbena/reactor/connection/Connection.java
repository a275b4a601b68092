package io.verbena.reactor.connection;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.verbena.ConnectionClosedException;
import io.verbena.HcaException;
import io.verbena.MemoryLimitException;
import io.verbena.OperationLimitException;
import io.verbena.ProtocolViolationException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RdmaTimeoutException;
import io.verbena.RemoteMemory;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.LoopMember;
import io.verbena.core.loop.Membership;
import io.verbena.core.loop.WorkRequestId;
import io.verbena.core.stat.OpenQueuePairs;
import io.verbena.meters.ConnectionMeter;
import io.verbena.reactor.wire.Handshake;
import io.verbena.reactor.wire.ProtocolException;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.util.context.Context;

/**
 * A connection and its life:
 *
 * <pre>{@code
 * OPENING --open--> OPEN --both ends sent CLOSE, error, dispose, disconnect--> ENDING --> ENDED
 *    +------------------------failed, cancelled----------------------------------^
 * }</pre>
 *
 * In ENDING the queue pair is in its error state and all that was posted is flushed; when the last
 * completion came, everything is freed, and then whatever still waits is told.
 */
public final class Connection implements RdmaConnection, LoopMember {
  /** Slots that one-sided operations leave to frames. */
  private static final int FRAME_SLOTS = 2;

  private static final int LONGEST_TRANSFER = 1 << 30;

  private enum Phase {
    OPENING,
    OPEN,
    ENDING,
    ENDED
  }

  private final Workbench bench;
  private final CompletionLoop loop;
  private final ConnectionIdentifier identifier;
  private final String peer;
  private final RdmaOptions options;
  private final Handshake own;
  private final Membership membership;
  private final QueuePair pair;
  private final ConnectionMeter meter;
  private final SendQueue sends;
  private final ReceiveQueue receives;
  private final Immediates immediates;
  private final Inbound inbound;
  private final AtomicResults results;
  private final Readings readings;
  private final OperationQueue operations;
  private final OperationQueue notifications;
  private final Closing closing;
  private final AtomicInteger admitted = new AtomicInteger();
  private final int longestTransfer;
  private final int readDepth;
  private final boolean gathers;
  private final int operationTicks;
  private final int closeTicks;
  private final Runnable onEnd;
  private final Flux<ByteBuf> messages;
  private final Flux<Immediate> notices;
  private final Sinks.Empty<Void> closed = Sinks.empty();
  private final Sinks.Empty<Void> ended = Sinks.empty();
  private final Mono<Void> close;

  private @Nullable Outbound outbound;
  private @Nullable ArrayDeque<WorkCompletion> early = new ArrayDeque<>();
  private Phase phase = Phase.OPENING;
  private @Nullable RdmaException cause;
  private int reads;
  private int oneSided;
  private boolean ending;
  private boolean abandoned;
  private boolean disconnected;
  private boolean forced;
  private volatile boolean disposed;

  /**
   * Prepares a connection on the loop's thread: its queue pair, with all receives posted.
   *
   * @param onEnd called on the loop when everything of it was freed, before it is told
   * @throws VerbsException if the HCA cannot; nothing was kept
   * @throws MemoryLimitException at the ceiling; nothing was kept
   */
  public Connection(
      Workbench bench,
      ConnectionIdentifier identifier,
      ProtectionDomain domain,
      RdmaOptions options,
      Runnable onEnd) {
    this.bench = bench;
    this.identifier = identifier;
    this.options = options;
    this.onEnd = onEnd;
    loop = bench.loop();
    peer = identifier.peer();
    DeviceAttributes device = loop.device().attributes();
    own = handshake(options, device);
    int sendDepth = Math.min(options.sendDepth(), device.maxWorkRequests());
    gathers = device.maxScatterGather() >= 2;
    longestTransfer = Math.min(LONGEST_TRANSFER, device.maxMessageSize());
    readDepth = Math.max(1, device.maxReadAtomicAsInitiator());
    operationTicks = loop.ticks(options.operationTimeout().toNanos());
    closeTicks = loop.ticks(options.closeTimeout().toNanos());
    membership = loop.join(this, sendDepth + own.receiveDepth());
    try {
      pair =
          identifier.createQueuePair(
              domain,
              QueuePairOptions.reliable(
                      membership.queue(), membership.queue(), sendDepth, own.receiveDepth())
                  .withScatterGather(gathers ? 2 : 1, 1));
    } catch (VerbsException e) {
      loop.leave(membership);
      throw e;
    }
    readings = new Readings(sendDepth);
    meter = bench.meter().connection(readings, SendQueue.slotsFor(sendDepth));
    sends = new SendQueue(pair, loop, membership.prefix(), sendDepth, meter);
    readings.sends(sends);
    OpenQueuePairs.use(pair, readings);
    receives = new ReceiveQueue(pair, bench, membership.prefix(), own.receiveDepth());
    results = new AtomicResults(bench, sends.slots());
    immediates = new Immediates(this, own.window());
    inbound = new Inbound(this, bench, receives, immediates, own, options);
    operations = new OperationQueue(this, options.maxOperations());
    notifications = new OperationQueue(this, options.maxOperations());
    closing = new Closing(this, inbound, immediates, closeTicks);
    messages = new DemandFlux<>(inbound, loop);
    notices = new DemandFlux<>(immediates, loop);
    close =
        Mono.defer(
            () -> {
              loop.execute(this::closeGracefully);
              return guarded(closed.asMono());
            });
    try {
      for (int i = 0; i < own.receiveDepth(); i++) {
        receives.post(bench.newFrame());
      }
    } catch (RuntimeException e) {
      pair.close();
      receives.release();
      meter.close();
      loop.leave(membership);
      throw e;
    }
  }

  private static Handshake handshake(RdmaOptions options, DeviceAttributes device) {
    return new Handshake(
        Handshake.VERSION,
        options.eagerSize(),
        Math.min(options.receiveDepth(), device.maxWorkRequests()),
        options.window(),
        options.maxMessageSize());
  }

  /** What the peer has to know. */
  public Handshake handshake() {
    return own;
  }

  /** The connection is established: on the loop, once. */
  public void open(Handshake other) {
    if (phase != Phase.OPENING) {
      return;
    }
    Outbound out = new Outbound(this, bench, sends, inbound, immediates, own, other, gathers);
    outbound = out;
    readings.outbound(out);
    phase = Phase.OPEN;
    ArrayDeque<WorkCompletion> came = early;
    early = null;
    while (came != null && !came.isEmpty()) {
      completed(came.remove());
    }
  }

  /** Whether it can be used. */
  public boolean isOpen() {
    return phase == Phase.OPEN;
  }

  // ---- what its parts need of each other

  CompletionLoop loop() {
    return loop;
  }

  Workbench bench() {
    return bench;
  }

  SendQueue sends() {
    return sends;
  }

  ConnectionMeter meter() {
    return meter;
  }

  /** Something that was asked for failed, and whoever asked is told. */
  void countFailure(String operation, RdmaException why) {
    bench.meter().failed(operation, why.status(), why);
  }

  Outbound outbound() {
    return requireNonNull(outbound, "the connection is not open");
  }

  OperationQueue operations() {
    return operations;
  }

  OperationQueue notifications() {
    return notifications;
  }

  AtomicResults results() {
    return results;
  }

  int longestTransfer() {
    return longestTransfer;
  }

  /** Whether frames that were read go back to the receive queue. */
  boolean isPosting() {
    return phase == Phase.OPEN;
  }

  /** Whether a one-sided operation may take a slot. */
  boolean mayPost() {
    return sends.free() > FRAME_SLOTS;
  }

  /** Whether a long message may take a slot for one of its READs. */
  boolean mayPostRead() {
    return mayPost() && reads < readDepth;
  }

  void readPosted() {
    reads++;
  }

  void readEnded() {
    reads--;
    endTurnLater();
  }

  /** A request of a one-sided operation was posted. */
  void oneSidedPosted() {
    oneSided++;
  }

  void oneSidedEnded() {
    oneSided--;
  }

  /** Whether no one-sided operation waits or is in flight. */
  boolean isOneSidedDone() {
    return oneSided == 0 && operations.isEmpty() && notifications.isEmpty();
  }

  void endTurnLater() {
    if (!ending && phase != Phase.ENDED) {
      ending = true;
      loop.endDutyCycleWith(this);
    }
  }

  // ---- operations

  @Override
  public String peer() {
    return peer;
  }

  @Override
  public RdmaMemory memory() {
    return bench.memory();
  }

  @Override
  public Mono<Void> send(Publisher<? extends ByteBuf> publisher) {
    return new SendOperation(this, requireNonNull(publisher, "messages"));
  }

  @Override
  public Flux<ByteBuf> receive() {
    return messages;
  }

  @Override
  public Mono<ByteBuf> read(RemoteMemory from) {
    return new ReadOperation(this, requireNonNull(from, "from"));
  }

  @Override
  public Mono<Void> read(RemoteMemory from, ByteBuf into) {
    return new ReadIntoOperation(this, requireNonNull(from, "from"), requireNonNull(into, "into"));
  }

  @Override
  public Flux<ByteBuf> readPieces(RemoteMemory from, int pieceLength) {
    requireNonNull(from, "from");
    if (pieceLength <= 0) {
      throw new IllegalArgumentException("pieceLength: " + pieceLength + " (expected: > 0)");
    }
    return new PieceFlux(this, from, pieceLength);
  }

  @Override
  public Mono<Void> write(ByteBuf data, RemoteMemory to) {
    return WriteOperation.plain(this, requireNonNull(data, "data"), requireNonNull(to, "to"));
  }

  @Override
  public Mono<Void> writeWithImmediate(ByteBuf data, RemoteMemory to, int immediate) {
    return WriteOperation.withImmediate(
        this, requireNonNull(data, "data"), requireNonNull(to, "to"), immediate);
  }

  @Override
  public Flux<Immediate> immediates() {
    return notices;
  }

  @Override
  public Mono<Long> compareAndSwap(RemoteMemory at, long expected, long swap) {
    return AtomicOperation.compareAndSwap(this, requireNonNull(at, "at"), expected, swap);
  }

  @Override
  public Mono<Long> fetchAndAdd(RemoteMemory at, long addend) {
    return AtomicOperation.fetchAndAdd(this, requireNonNull(at, "at"), addend);
  }

  /** Why a send cannot start, or null. */
  @Nullable RdmaException refuseSend() {
    RdmaException refusal = refuse("send");
    if (refusal == null && outbound().sendCount() >= options.maxOperations()) {
      refusal = tooMany("send", outbound().sendCount());
    }
    return refusal;
  }

  /** Why an operation cannot start, or null. */
  @Nullable RdmaException refuse(String operation) {
    if (phase == Phase.OPEN && !closing.isClosedHere() && !outbound().isCloseWanted()) {
      return null;
    }
    return closedError(operation, null);
  }

  /** The error of an operation that finds too many waiting. */
  RdmaException tooMany(String operation, int waiting) {
    return new OperationLimitException(
        operation,
        peer,
        "operations that wait: "
            + waiting
            + " (expected: < "
            + options.maxOperations()
            + ", RdmaOptions.maxOperations)");
  }

  /** Lets an operation wait for the loop, or answers why not; from any thread. */
  @Nullable RdmaException admit() {
    int waiting = admitted.getAndIncrement();
    if (waiting < options.maxOperations()) {
      return null;
    }
    admitted.getAndDecrement();
    return tooMany("operation", waiting);
  }

  /** The loop has taken up an operation that it was handed. */
  void admitted() {
    admitted.getAndDecrement();
  }

  // ---- completions

  @Override
  public void completed(WorkCompletion completion) {
    try {
      ArrayDeque<WorkCompletion> parked = early;
      if (parked != null) {
        // The peer is faster than our own event that the connection is established: it has sent,
        // or even gone, and whoever connects is told of both in their order.
        parked.add(copy(completion));
        return;
      }
      int sequence = WorkRequestId.sequence(completion.workRequestId());
      if (WorkRequestId.isReceive(completion.workRequestId())) {
        received(sequence, completion);
      } else {
        sent(sequence, completion);
      }
    } catch (ProtocolException e) {
      violated(e);
    } catch (Throwable e) {
      broke(e);
    }
    if (phase == Phase.ENDING) {
      endTurnLater();
    }
  }

  private static WorkCompletion copy(WorkCompletion completion) {
    WorkCompletion copy = new WorkCompletion();
    if (completion.isSuccess()) {
      copy.set(
          completion.workRequestId(),
          completion.opcode(),
          completion.byteLength(),
          completion.immediate(),
          completion.queuePairNumber(),
          completion.sourceQueuePair(),
          completion.flags());
    } else {
      copy.setError(
          completion.workRequestId(),
          completion.status(),
          completion.vendorError(),
          completion.queuePairNumber());
    }
    return copy;
  }

  private void received(int sequence, WorkCompletion completion) {
    if (!completion.isSuccess()) {
      receives.take(sequence).release();
      terminate(
          completion.status() == CompletionStatus.WR_FLUSH_ERR
              ? lost()
              : failure("receive", completion.status()));
    } else if (abandoned || outbound == null) {
      receives.take(sequence).release();
    } else if (completion.opcode() == CompletionOpcode.RECV_RDMA_WITH_IMM) {
      inbound.notified(sequence);
      immediates.arrived(completion.immediate(), completion.byteLength());
    } else {
      inbound.received(sequence, completion.byteLength());
    }
  }

  private void sent(int sequence, WorkCompletion completion) {
    Posted owner = sends.retireTo(sequence, completion.status(), this);
    if (completion.isSuccess()) {
      succeeded(owner);
    } else {
      RdmaException error = failure(owner.operation(), completion.status());
      try {
        owner.failed(error);
      } finally {
        terminate(error);
      }
    }
    if (closing.isUnderway()
        || !operations.isEmpty()
        || !notifications.isEmpty()
        || inbound.hasUnreadMessage()) {
      endTurnLater();
    }
  }

  void succeeded(Posted owner) {
    try {
      owner.succeeded();
    } catch (Throwable e) {
      broke(e);
    }
  }

  private RdmaException failure(String operation, CompletionStatus status) {
    return Failures.of(operation, peer, status, cause);
  }

  private void violated(ProtocolException error) {
    terminate(
        new ProtocolViolationException(
            "receive", peer, "the peer broke the protocol: " + error.getMessage(), error));
  }

  /**
   * Ends the connection for what a subscriber, a publisher or the transport itself threw, errors of
   * the JVM included: they are this connection's and nobody else's. On the loop.
   */
  void broke(Throwable error) {
    if (phase == Phase.ENDING || phase == Phase.ENDED) {
      drop(error);
      return;
    }
    terminate(
        new ConnectionClosedException(
            "signal", peer, null, "a subscriber or the transport threw " + error, error));
  }

  /** For errors that nobody is left to be told of. A hook that throws is not in the way either. */
  static void drop(Throwable error) {
    try {
      Operators.onErrorDropped(error, Context.empty());
    } catch (Throwable thrown) {
      Thread current = Thread.currentThread();
      current.getUncaughtExceptionHandler().uncaughtException(current, thrown);
    }
  }

  /** Tells a subscriber of an error; what it throws ends this connection and nothing else. */
  void tellError(CoreSubscriber<?> subscriber, Throwable why) {
    try {
      subscriber.onError(why);
    } catch (Throwable thrown) {
      broke(thrown);
    }
  }

  /** The same for the end of what a subscriber gets. */
  void tellComplete(CoreSubscriber<?> subscriber) {
    try {
      subscriber.onComplete();
    } catch (Throwable thrown) {
      broke(thrown);
    }
  }

  /**
   * Runs a step that others must not miss; what it throws ends this connection and nothing else.
   */
  void guarded(Runnable step) {
    try {
      step.run();
    } catch (Throwable thrown) {
      broke(thrown);
    }
  }

  private Mono<Void> guarded(Mono<Void> end) {
    return end.transform(
        Operators.<Void, Void>lift((of, subscriber) -> new GuardedSubscriber(subscriber)));
  }

  @Override
  public void endDutyCycle() {
    ending = false;
    try {
      if (phase == Phase.OPEN) {
        inbound.endTurn();
        outbound().endTurn();
        inbound.repost();
        notifications.advance();
        operations.advance();
        if (closing.isUnderway() && closing.advance(outbound())) {
          terminate(null);
        }
      } else if (phase == Phase.ENDING) {
        if (!forced && sends.isEndUntold() && sends.free() > 0) {
          markEnd();
        }
        if (isFlushed()) {
          finish();
        }
      }
    } catch (Throwable e) {
      broke(e);
    }
  }

  /**
   * Posts what is flushed for certain, and behind all else; with no free slot, once there is one.
   */
  private void markEnd() {
    int slot = sends.nextSlot();
    try {
      sends.post(bench.send().write(0, 0).signaled(), new EndMark());
      meter.forget(slot);
    } catch (VerbsException e) {
      forced = true;
    }
  }

  private boolean isFlushed() {
    return forced || (sends.isEmpty() && receives.isEmpty());
  }

  // ---- deadlines

  @Override
  public void tick() {
    try {
      if (phase == Phase.OPEN) {
        checkDeadlines();
      } else if (phase == Phase.ENDING && closing.isOverdue()) {
        forced = true;
        endTurnLater();
      }
    } catch (Throwable e) {
      broke(e);
    }
  }

  private void checkDeadlines() {
    outbound().tick();
    operations.expire(operationTicks);
    notifications.expire(operationTicks);
    Posted late = sends.overdue(operationTicks);
    if (late != null) {
      RdmaException why = timeout(late.operation(), "the HCA did not complete it");
      late.overdue(why);
      terminate(why);
    } else if (outbound().isOverdue(operationTicks)) {
      terminate(timeout("send", "no credit of the peer, no slot or no memory came free"));
    } else if (inbound.isOutOfMemory()) {
      terminate(
          new MemoryLimitException(
              "receive",
              peer,
              "no memory for a long message within "
                  + options.operationTimeout()
                  + "; release buffers, or raise RdmaOptions.maxRegisteredBytes"));
    } else if (closing.isOverdue()) {
      terminate(
          outbound().isCloseArrived()
              ? null
              : new RdmaTimeoutException(
                  "close", peer, "what was begun was not done within " + options.closeTimeout()));
    }
  }

  private RdmaTimeoutException timeout(String operation, String reason) {
    return new RdmaTimeoutException(
        operation, peer, reason + " within " + options.operationTimeout());
  }

  // ---- close

  private void closeGracefully() {
    if (phase == Phase.OPEN) {
      closing.closeHere();
    }
  }

  /** The peer sends no more messages. */
  void peerCloses() {
    closing.closeCame();
  }

  @Override
  public Mono<Void> close() {
    return close;
  }

  @Override
  public Mono<Void> onClose() {
    return guarded(ended.asMono());
  }

  @Override
  public void dispose() {
    if (loop.inLoop()) {
      abandon();
    } else {
      loop.execute(this::abandon);
    }
  }

  @Override
  public boolean isDisposed() {
    return disposed;
  }

  private void abandon() {
    if (phase == Phase.ENDED) {
      inbound.discard();
      immediates.discard();
    } else if (phase != Phase.ENDING) {
      abandoned = true;
      inbound.discard();
      terminate(null);
    }
  }

  @Override
  public void shutDown(Throwable why, boolean now) {
    forced |= now;
    if (now) {
      terminate(
          new HcaException("completion loop", peer, null, "the loop broke down: " + why, why));
      endDutyCycle();
    } else {
      abandon();
    }
  }

  /** The connection manager says that the peer is gone. */
  public void disconnected() {
    disconnected = true;
    terminate(lost());
  }

  /** The device is gone: all that is pending is flushed by now. */
  public void deviceRemoved() {
    disconnected = true;
    terminate(
        new HcaException(
            "connection", peer, CompletionStatus.WR_FLUSH_ERR, "the device was removed", null));
  }

  /** What a flush that this end did not ask for means, and a disconnect that nobody announced. */
  private ConnectionClosedException lost() {
    return new ConnectionClosedException(
        "connection",
        peer,
        CompletionStatus.WR_FLUSH_ERR,
        "the peer disconnected without closing",
        null);
  }

  /**
   * Gives the connection up for a reason that lies outside it.
   *
   * @param why what went wrong, or null if it was asked for
   */
  public void abort(@Nullable RdmaException why) {
    if (why == null) {
      abandon();
    } else {
      terminate(why);
    }
  }

  /** Stops both queues; the completions of what they hold lead to {@link #finish}. */
  private void terminate(@Nullable RdmaException why) {
    if (phase == Phase.ENDING || phase == Phase.ENDED) {
      return;
    }
    boolean established = phase == Phase.OPEN;
    phase = Phase.ENDING;
    disposed = true;
    cause = why;
    closing.restartDeadline();
    try {
      if (established && !disconnected) {
        identifier.disconnect();
      }
      if (pair.state() != QueuePairState.ERR) {
        pair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
      }
    } catch (VerbsException e) {
      // It cannot be flushed: destroying it has the HCA let go of its memory all the same.
      forced = true;
      if (cause == null) {
        cause = new HcaException("close", peer, null, "the queue pair cannot be stopped", e);
      }
    }
    Outbound out = outbound;
    if (out != null) {
      out.halt();
    }
    dropEarly();
    endTurnLater();
    guarded(() -> operations.fail(this::closedError));
    guarded(() -> notifications.fail(this::closedError));
  }

  private void dropEarly() {
    ArrayDeque<WorkCompletion> came = early;
    early = null;
    while (came != null && !came.isEmpty()) {
      receives.take(WorkRequestId.sequence(came.remove().workRequestId())).release();
    }
  }

  private RdmaException closedError(String operation) {
    return closedError(operation, null);
  }

  private RdmaException closedError(String operation, @Nullable CompletionStatus status) {
    RdmaException why = cause;
    String reason =
        abandoned
            ? "the connection was disposed"
            : why == null ? "the connection is closed" : "the connection was lost";
    return new ConnectionClosedException(operation, peer, status, reason, why);
  }

  /** Frees everything, then tells everybody. */
  private void finish() {
    phase = Phase.ENDED;
    Outbound out = outbound;
    boolean graceful = closing.isClosedByPeer() && out != null && out.isCloseSent();
    if (graceful) {
      cause = null;
    }
    guarded(pair::close);
    for (Posted left = sends.abandon(); left != null; left = sends.abandon()) {
      Posted lost = left;
      guarded(() -> lost.failed(closedError(lost.operation(), CompletionStatus.WR_FLUSH_ERR)));
    }
    guarded(receives::release);
    if (out != null) {
      guarded(() -> out.free(closedError("send", CompletionStatus.WR_FLUSH_ERR)));
    }
    guarded(inbound::free);
    guarded(results::release);
    guarded(identifier::close);
    guarded(meter::close);
    guarded(() -> loop.leave(membership));
    guarded(closing::stopDeadline);
    guarded(onEnd);
    tell(out);
  }

  private void tell(@Nullable Outbound out) {
    guarded(() -> operations.fail(this::closedError));
    guarded(() -> notifications.fail(this::closedError));
    RdmaException why = cause;
    if (out != null) {
      guarded(() -> out.fail(closedError("send", null)));
      if (why != null) {
        guarded(() -> countFailure("connection", why));
      }
    }
    RdmaException lost = abandoned || why != null ? closedError("receive", null) : null;
    RdmaException told =
        lost != null && !abandoned && why instanceof ConnectionClosedException ? why : lost;
    guarded(() -> inbound.end(told));
    guarded(() -> immediates.end(told));
    if (abandoned) {
      guarded(inbound::discard);
      guarded(immediates::discard);
    } else if (!inbound.isEmpty()) {
      loop.addTickListener(new Leftovers(inbound, closeTicks));
    }
    if (why == null && !(abandoned && closing.isClosedHere())) {
      closed.tryEmitEmpty();
    } else {
      closed.tryEmitError(why instanceof RdmaTimeoutException ? why : closedError("close", null));
    }
    if (why == null) {
      ended.tryEmitEmpty();
    } else {
      ended.tryEmitError(why);
    }
  }
}
