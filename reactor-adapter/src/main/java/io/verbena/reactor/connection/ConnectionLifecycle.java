// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.verbena.ConnectionClosedException;
import io.verbena.HcaException;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaException;
import io.verbena.RdmaOptions;
import io.verbena.core.loop.AwaitedVisitor;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.DutyCycleEnd;
import io.verbena.core.loop.LoopMember;
import io.verbena.core.loop.Ticks;
import io.verbena.core.loop.WorkRequestId;
import io.verbena.core.receive.ReceivePool;
import io.verbena.core.receive.Receives;
import io.verbena.reactor.credit.OwedCredits;
import io.verbena.reactor.guard.Admission;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.reactor.guard.FailureLog;
import io.verbena.reactor.onesided.OneSidedOperations;
import io.verbena.reactor.queue.LoopResources;
import io.verbena.reactor.queue.RequestOwner;
import io.verbena.reactor.queue.SendSlots;
import io.verbena.reactor.receive.ImmediateReceiver;
import io.verbena.reactor.receive.MessageReceiver;
import io.verbena.reactor.send.MessageSender;
import io.verbena.reactor.wire.Handshake;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The life of a connection:
 *
 * <pre>{@code
 * OPENING --open--> OPEN --both ends sent CLOSE, error, dispose, disconnect--> FLUSHING
 *    |                                                                          ^  |  |
 *    +------------------------failed, cancelled---------------------------------+  |  |
 *                                                                                  |  |
 *                  RELEASING <------------cannot be flushed, takes too long--------+  |
 *                      |                                                              |
 *                      +-------> ENDED <------------------all flushed-----------------+
 * }</pre>
 *
 * In FLUSHING the queue pair is in its error state, and all posted requests are flushed. In
 * RELEASING the flush has failed or takes too long, and is not waited for: the HCA releases the
 * memory when the queue pair is destroyed. At the end of that duty cycle the {@link #endSteps} free
 * everything, and then signal all that still wait. Only on the loop, unless a method says
 * otherwise.
 */
public final class ConnectionLifecycle implements LoopMember, ReceivePool.User {
  private enum Phase {
    OPENING,
    OPEN,
    FLUSHING,
    RELEASING,
    ENDED;

    boolean isOver() {
      return compareTo(OPEN) > 0;
    }
  }

  private final LoopResources resources;
  private final CompletionLoop loop;
  private final ConnectionContext context;
  private final ConnectionIdentifier identifier;
  private final Runnable onEnd;
  private final Handshake own;
  private final ConnectionQueues queues;
  private final OwedCredits returns;
  private final DutyCycleEnd turn;
  private final FailureGuard guard;
  private final Admission admission;
  private final MessageReceiver receiver;
  private final ImmediateReceiver immediates;
  private final Deadlines deadlines;
  private final GracefulClose close;
  private final KeepAlive keepAlive;
  private final CompletionRouter router;
  private final EndReason reason;
  private final EndSignals signals;

  /** Whether the queue pair failed before the connection was open. */
  private boolean failedEarly;

  private @Nullable MessageSender sender;
  private @Nullable OneSidedOperations operations;

  /** Written on the loop, read by any thread. */
  private volatile Phase phase = Phase.OPENING;

  /**
   * Creates the queue pair of a connection and posts its receives. Frees everything if this throws.
   *
   * @param onEnd called on the loop after all resources were freed, and before the end is signalled
   * @throws VerbsException if the HCA refuses
   * @throws MemoryLimitException at the limit on registered memory
   */
  public ConnectionLifecycle(
      ConnectionContext context, ConnectionIdentifier identifier, Runnable onEnd) {
    this.context = context;
    this.identifier = identifier;
    this.onEnd = onEnd;
    RdmaOptions options = context.options();
    resources = context.resources();
    loop = resources.loop();
    own = context.handshake();
    Ticks ticks = new Ticks(loop, this::tick);
    queues =
        new ConnectionQueues(context, identifier, this, ticks, this::broke, own.receiveDepth());
    try {
      returns = new OwedCredits(own.first(), own.receiveDepth(), own.window());
      turn = new DutyCycleEnd(loop.dutyCycleEnds(), this::endDutyCycle);
      reason = new EndReason(identifier.peer());
      guard = new FailureGuard(this::broke, reason.peer());
      signals = new EndSignals(reason, loop, options.closeTimeout(), this::closeGracefully);
      admission = new Admission(reason.peer(), options.maxOperations(), this::refuse);
      immediates = new ImmediateReceiver(returns.immediates(), own.window(), turn, guard);
      SendSlots sends = queues.sends();
      Receives receives = queues.receives();
      receiver =
          new MessageReceiver(
              context.receiveBuffers(),
              receives,
              returns,
              queues.slots(),
              turn,
              guard,
              queues.meter(),
              own,
              options);
      deadlines = new Deadlines(loop, options, sends, receiver, reason.peer(), this::terminate);
      close = new GracefulClose(turn, deadlines, receiver, immediates, reason, signals);
      keepAlive = new KeepAlive(queues, close, resources.meter());
      router =
          new CompletionRouter(
              sends,
              receiver,
              immediates,
              close,
              guard,
              turn,
              reason,
              own.first(),
              this::terminate);
      queues.serve(this, own.first(), this::queuePairFailed);
    } catch (Throwable e) {
      queues.giveUp(e);
      throw e;
    }
  }

  /** Returns the handshake to send to the peer. */
  public Handshake handshake() {
    return own;
  }

  /**
   * Opens the established connection; called once.
   *
   * @param other the handshake of the peer
   * @return the connection for users; if it has ended already, it refuses all operations
   */
  public Connection open(Handshake other) {
    MessageSender out =
        new MessageSender(
            context.sendFrames(),
            queues.sends(),
            returns,
            turn,
            guard,
            admission,
            queues.meter(),
            queues.events(),
            own,
            other);
    OneSidedOperations oneSided =
        new OneSidedOperations(resources, queues.slots(), out, guard, admission);
    if (phase == Phase.OPENING) {
      sender = out;
      operations = oneSided;
      queues.statistics().sender(out);
      phase = Phase.OPEN;
      queues.events().opened();
      router.open(new FrameRouter(out, receiver, immediates, close), oneSided);
      if (failedEarly) {
        noticeFailure();
      }
      if (phase.isOver()) {
        turn.ask();
      }
    }
    return new Connection(
        this,
        context.medium(),
        reason.peer(),
        resources.memory(),
        out,
        oneSided,
        receiver.flux(loop),
        immediates.flux(loop));
  }

  /** Returns whether the connection is ending or has ended; from any thread. */
  boolean isOver() {
    return phase.isOver();
  }

  /** Returns the exception for an operation that cannot start, or null. */
  private @Nullable RdmaException refuse(String operation) {
    MessageSender out = sender;
    return phase == Phase.OPEN && out != null && !close.isClosedHere() && !out.isCloseWanted()
        ? null
        : reason.closed(operation);
  }

  // ---- the loop

  @Override
  public void completed(WorkCompletion completion) {
    long id = completion.workRequestId();
    if (WorkRequestId.isReceive(id)) {
      try {
        received(queues.take(WorkRequestId.sequence(id)), completion);
      } catch (Throwable e) {
        broke(e);
      }
    } else {
      router.sent(completion);
      if (phase.isOver()) {
        turn.ask();
      }
    }
  }

  @Override
  public void received(ByteBuf frame, WorkCompletion completion) {
    router.received(frame, completion);
    if (phase.isOver()) {
      turn.ask();
    }
  }

  @Override
  public void receiveRefused(Throwable why) {
    broke("receive", "the HCA takes no more receives: ", why);
  }

  /** Handles the device's event that the queue pair failed; from any thread. */
  private void queuePairFailed() {
    loop.execute(this::noticeFailure);
  }

  /**
   * Ends the connection after its queue pair failed. If requests are in flight, the first failed
   * completion ends it, with the reason.
   */
  private void noticeFailure() {
    if (phase == Phase.OPENING) {
      // open() delivers first what was received before.
      failedEarly = true;
    } else if (phase == Phase.OPEN) {
      try {
        if (!queues.markFailure()) {
          terminate(reason.lost());
        }
      } catch (VerbsException e) {
        terminate(reason.lost());
      }
    }
  }

  private void endDutyCycle() {
    try {
      switch (phase) {
        case OPEN -> work();
        case FLUSHING -> flush();
        case RELEASING -> finish();
        case OPENING, ENDED -> {
          // Nothing to do, not yet or no more.
        }
      }
    } catch (Throwable e) {
      broke(e);
    }
  }

  private void work() {
    MessageSender out = requireNonNull(sender, "the connection is not open");
    OneSidedOperations oneSided = requireNonNull(operations, "the connection is not open");
    if (queues.slots().isTurnOfOperations()) {
      oneSided.advance();
    }
    receiver.endDutyCycle();
    out.endDutyCycle();
    receiver.repost();
    oneSided.advance();
    queues.slots().share(oneSided.isStarved() || receiver.isStarved());
    if (receiver.hasUnreadMessage()) {
      queues.sends().ticks().ask();
    }
    if (close.isUnderway() && close.advance(out, oneSided)) {
      terminate(null);
    }
  }

  private void flush() {
    try {
      queues.markEnd();
    } catch (VerbsException e) {
      phase = Phase.RELEASING;
    }
    if (phase == Phase.RELEASING) {
      finish();
      return;
    }
    switch (queues.flushed()) {
      case DONE -> finish();
      case LOOK_AGAIN -> turn.ask();
      case UNDER_WAY -> {
        // The completions of the flush ask for another turn.
      }
    }
  }

  /** Checks the deadlines, on a tick; returns whether there is one still. */
  private boolean tick() {
    try {
      MessageSender out = sender;
      OneSidedOperations oneSided = operations;
      if (phase == Phase.OPEN && out != null && oneSided != null) {
        deadlines.check(out, oneSided);
        return phase.isOver() || deadlines.isWaiting(out, oneSided);
      }
      if (phase == Phase.FLUSHING && deadlines.isCloseOverdue()) {
        phase = Phase.RELEASING;
        turn.ask();
      }
    } catch (Throwable e) {
      broke(e);
    }
    return phase == Phase.OPENING || phase == Phase.FLUSHING;
  }

  @Override
  public void forEachAwaited(AwaitedVisitor visitor) {
    MessageSender out = sender;
    OneSidedOperations oneSided = operations;
    if (out != null && oneSided != null) {
      out.forEachAwaited(visitor);
      oneSided.forEachAwaited(visitor);
    }
  }

  @Override
  public boolean keepAlive() {
    try {
      return phase == Phase.OPEN && keepAlive.check();
    } catch (Throwable e) {
      broke(e);
      return false;
    }
  }

  /** Ends this connection with what a subscriber, a publisher or the transport itself threw. */
  private void broke(Throwable error) {
    broke("signal", "a subscriber or the transport threw ", error);
  }

  private void broke(String operation, String what, Throwable error) {
    if (phase.isOver()) {
      FailureGuard.drop(error);
      return;
    }
    terminate(new ConnectionClosedException(operation, reason.peer(), null, what + error, error));
  }

  // ---- what ends it

  private void closeGracefully() {
    if (phase == Phase.OPEN) {
      close.closeHere();
    }
  }

  Mono<Void> close() {
    return signals.close();
  }

  Mono<Void> onClose() {
    return signals.onClose();
  }

  Mono<Void> onPeerClosing() {
    return signals.onPeerClosing();
  }

  /** Returns whether the peer has begun to close; on the loop. */
  boolean isClosedByPeer() {
    return close.isClosedByPeer();
  }

  /** Ends the connection without a graceful close; from any thread. */
  void dispose() {
    if (loop.inLoop()) {
      abandon();
    } else {
      signals.startClose();
      loop.execute(this::abandon);
    }
  }

  private void abandon() {
    if (phase.isOver()) {
      // The connection is ending already: only drops undelivered messages, and those to come.
      router.discardReceived();
      guard.guarded(receiver::discard);
      guard.guarded(immediates::discard);
    } else {
      reason.dispose();
      router.discardReceived();
      guard.guarded(receiver::discard);
      terminate(null);
    }
  }

  @Override
  public void shutDown(Throwable why, boolean now) {
    if (now) {
      HcaException broken =
          new HcaException(
              "completion loop", reason.peer(), null, "the loop broke down: " + why, why);
      guard.guarded(() -> terminate(broken));
      if (phase == Phase.FLUSHING) {
        phase = Phase.RELEASING;
      }
      endDutyCycle();
    } else {
      abandon();
    }
  }

  /** Handles the connection manager's event that the peer has disconnected. */
  public void disconnected() {
    terminate(reason.lost(), false);
  }

  /** Handles the removal of the device, by which all requests are flushed. */
  public void deviceRemoved() {
    terminate(
        new HcaException(
            "connection",
            reason.peer(),
            CompletionStatus.WR_FLUSH_ERR,
            "the device was removed",
            null),
        false);
  }

  /**
   * Ends the connection for a reason outside of it, without a graceful close; from any thread.
   *
   * @param why the failure, or null if the end was requested
   */
  public void abort(@Nullable RdmaException why) {
    if (!loop.inLoop()) {
      loop.execute(() -> abort(why));
    } else if (why == null) {
      abandon();
    } else {
      terminate(why);
    }
  }

  private void terminate(@Nullable RdmaException why) {
    terminate(why, true);
  }

  /**
   * Stops both queues, unless the connection is ending; the completions of the flush lead to {@link
   * #finish}.
   *
   * @param why the failure, or null
   * @param connected whether to disconnect, which notifies the peer
   */
  private void terminate(@Nullable RdmaException why, boolean connected) {
    if (phase.isOver()) {
      return;
    }
    // Before the linked sends, which would first post the receives that wait: if the HCA refused
    // those, this method would be called from within itself.
    receiver.halt();
    queues.sends().postLinked();
    boolean established = phase == Phase.OPEN;
    phase = Phase.FLUSHING;
    reason.cause(why);
    deadlines.restartClose();
    try {
      if (established && connected) {
        identifier.disconnect();
      }
      queues.stop();
    } catch (VerbsException e) {
      // There is no flush: destroying the queue pair makes the HCA release its memory all the same.
      phase = Phase.RELEASING;
      if (why == null) {
        reason.cause(
            new HcaException("close", reason.peer(), null, "the queue pair cannot be stopped", e));
      }
    }
    MessageSender out = sender;
    if (out != null) {
      out.halt();
    }
    router.discardEarly();
    turn.ask();
    failOperations();
  }

  // ---- the end

  /** Frees and signals everything, once the flush is over or not waited for. */
  private void finish() {
    phase = Phase.ENDED;
    turn.close();
    MessageSender out = sender;
    if (close.isClosedByPeer() && out != null && out.isCloseSent()) {
      reason.cause(null);
    }
    for (Runnable step : endSteps()) {
      guard.guarded(step);
    }
  }

  /**
   * Returns the steps of the end, in their order: each runs once, even if an earlier one throws.
   * First everything is freed, then all subscribers are signalled.
   */
  private List<Runnable> endSteps() {
    return List.of(
        queues::closePair,
        this::failPosted,
        queues.receives()::release,
        this::freeSender,
        receiver::free,
        this::freeOperations,
        () -> resources.close("connection identifier", identifier::close),
        queues.meter()::close,
        queues::leaveLoop,
        deadlines::stopClose,
        onEnd,
        this::failOperations,
        this::failSends,
        this::reportEnd,
        this::endReceivers,
        this::dropOrKeepUndelivered,
        signals::signalPeerClosing,
        () -> signals.signalClosers(close.isClosedHere()),
        signals::signalEnded);
  }

  private void failPosted() {
    SendSlots sends = queues.sends();
    for (RequestOwner left = sends.abandon(); left != null; left = sends.abandon()) {
      RequestOwner lost = left;
      guard.guarded(
          () -> lost.failed(reason.closed(lost.operation(), CompletionStatus.WR_FLUSH_ERR)));
    }
  }

  private void freeSender() {
    MessageSender out = sender;
    if (out != null) {
      out.free(reason.closed("send", CompletionStatus.WR_FLUSH_ERR));
    }
  }

  private void freeOperations() {
    OneSidedOperations oneSided = operations;
    if (oneSided != null) {
      oneSided.release();
    }
  }

  private void failOperations() {
    OneSidedOperations oneSided = operations;
    if (oneSided != null) {
      oneSided.fail(reason::closed);
    }
  }

  private void failSends() {
    MessageSender out = sender;
    if (out != null) {
      out.fail(reason.closed("send"));
    }
  }

  /** Reports the end to meters, Flight Recorder and the log. */
  private void reportEnd() {
    RdmaException why = reason.cause();
    if (sender == null) {
      return;
    }
    if (why == null) {
      queues.events().closed();
    } else {
      queues.events().failed(why);
      resources.countFailure("connection", why);
      FailureLog.get().failed(why);
    }
  }

  private void endReceivers() {
    RdmaException error = reason.forReceivers();
    guard.guarded(() -> receiver.end(error));
    guard.guarded(() -> immediates.end(error));
  }

  private void dropOrKeepUndelivered() {
    if (reason.isDisposed()) {
      guard.guarded(receiver::discard);
      guard.guarded(immediates::discard);
    } else {
      receiver.keepUndelivered(deadlines.closeTicks());
    }
  }
}
