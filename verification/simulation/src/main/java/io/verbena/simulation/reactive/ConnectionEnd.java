// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.verbena.MemoryLimitException;
import io.verbena.PeerUnreachableException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RdmaTimeoutException;
import io.verbena.RemoteMemory;
import io.verbena.core.loop.DutyCycle;
import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.Violation;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One end of the simulated connection. Executes one step of the scenario each time that the
 * scheduler runs it.
 */
final class ConnectionEnd implements DutyCycle {
  private final ReactiveSimulation simulation;
  private final int connectionNumber;
  private final int index;
  private final FailureOracle oracle;
  private final RdmaConnection connection;
  private final Settings settings;
  private final ArrayDeque<Step> steps = new ArrayDeque<>();
  private final RdmaMemory.Region region;
  private final int sharedOffset;

  private final List<TrackedSend> sends = new ArrayList<>();
  private final Deque<ByteBuf> retained = new ArrayDeque<>();
  private @Nullable ReceiveSubscriber receiveSubscriber;
  private long subscribedAt;
  private @Nullable ConnectionEnd peer;
  private @Nullable RemoteMemoryModel remoteMemory;
  private @Nullable OperationSubscriber<Void> closing;
  private final OperationSubscriber<Void> closed;
  private @Nullable Mischief mischief;
  private @Nullable Step mischievous;
  private boolean cancelledSend;
  private boolean mayDiscard;

  /**
   * Creates an end of an established connection.
   *
   * @param connectionNumber the number of the connection, from 0
   * @param index 0 or 1
   * @param sharedOffset the offset in the arena of the memory that its peer accesses
   */
  ConnectionEnd(
      ReactiveSimulation simulation,
      int connectionNumber,
      int index,
      FailureOracle oracle,
      RdmaConnection connection,
      Arena arena,
      int sharedOffset) {
    this.simulation = simulation;
    this.connectionNumber = connectionNumber;
    this.index = index;
    this.oracle = oracle;
    this.connection = connection;
    this.sharedOffset = sharedOffset;
    settings = simulation.scenario().settings();
    for (Step step : simulation.scenario().steps()) {
      if (step.end() == index && step.connection() == connectionNumber) {
        steps.add(step);
      }
    }
    region =
        connection
            .memory()
            .register(
                arena.memory.slice(sharedOffset, RemoteMemoryModel.LENGTH),
                EnumSet.allOf(RemoteMemory.Right.class));
    closed = new OperationSubscriber<>("onClose", this, nothing -> {}, mayBeExecuted -> {});
    connection.onClose().subscribe(closed);
    connection.immediates().subscribe(new ImmediateSubscriber(this));
  }

  void connectTo(ConnectionEnd other, Arena arena) {
    peer = other;
    remoteMemory =
        new RemoteMemoryModel(this, connection, other.region.token(), arena, other.sharedOffset);
  }

  ConnectionEnd peer() {
    ConnectionEnd other = peer;
    if (other == null) {
      throw new IllegalStateException("not connected to its peer yet");
    }
    return other;
  }

  RemoteMemoryModel remoteMemory() {
    RemoteMemoryModel own = remoteMemory;
    if (own == null) {
      throw new IllegalStateException("not connected to its peer yet");
    }
    return own;
  }

  // ---- called by its sends, subscribers and operations

  Schedule schedule() {
    return simulation.schedule();
  }

  int messageLength(long seed, int number) {
    boolean isLong = Choice.LONG_MESSAGE.oneIn(3, seed, number);
    int most = isLong ? 6 * settings.eagerSize() : settings.eagerSize() + 8;
    return TestMessage.MIN_LENGTH + Choice.MESSAGE_LENGTH.below(most, seed, number);
  }

  /** Allocates a registered buffer, or a heap buffer if the memory limit is reached. */
  ByteBuf allocate(int length) {
    try {
      return connection.memory().allocator().directBuffer(length);
    } catch (MemoryLimitException e) {
      verify(() -> Violation.require(settings.hasLowCeiling(), "no memory:", e));
      return UnpooledByteBufAllocator.DEFAULT.heapBuffer(length);
    }
  }

  boolean isClosing() {
    return oracle.isClosing();
  }

  /** Returns whether this end may drop messages of its peer, whose sends then fail. */
  boolean mayDiscard() {
    return mayDiscard;
  }

  /** See {@link ReactiveSimulation#verify}. */
  void verify(Runnable check) {
    simulation.verify(check);
  }

  void trace(String what, Object about) {
    simulation.trace(what, this, about);
  }

  /**
   * Checks that this end requests no more messages from its upstreams than its peer has granted
   * credits.
   */
  void checkCredits() {
    verify(this::verifyCredits);
  }

  private void verifyCredits() {
    boolean uncounted = cancelledSend || peer().cancelledSend || peer().mayDiscard;
    if (uncounted || oracle.mayHaveFailed()) {
      return;
    }
    long outstanding = 0;
    for (TrackedSend send : sends) {
      outstanding += send.demand() + send.undelivered();
    }
    // While one send holds all credits unused, another one may request one message in advance.
    long most = (long) settings.maxSends() * settings.window() + settings.maxSends() - 1;
    Violation.require(outstanding <= most, "more messages requested than " + most + ":", sends);
  }

  /** Called when a send drops messages that were emitted: their credits are not counted. */
  void dropsMessages() {
    cancelledSend = true;
  }

  /** Verifies a message and takes ownership. Returns how many more messages to request now. */
  int onMessage(ByteBuf message) {
    verify(() -> verifyMessage(message));
    long seed = peer().sends.get(TestMessage.send(message)).seed();
    int number = TestMessage.index(message);
    if (Choice.RETAIN.oneIn(4, seed, number)) {
      retained.add(message);
    } else {
      message.release();
    }
    return Math.max(0, Choice.REQUEST_MORE.below(16, seed, number) - 11);
  }

  private void verifyMessage(ByteBuf message) {
    List<TrackedSend> from = peer().sends;
    Violation.require(
        message.readableBytes() >= TestMessage.MIN_LENGTH
            && TestMessage.send(message) >= 0
            && TestMessage.send(message) < from.size(),
        "a message of no known send:",
        message);
    from.get(TestMessage.send(message)).deliver(message);
  }

  /**
   * Called when a send, a subscription or an operation fails.
   *
   * @param startedWhileClosing whether the operation started after an end began to close
   */
  void failed(String what, Throwable error, boolean startedWhileClosing) {
    trace("failed", what + ": " + error.getMessage());
    verify(() -> oracle.recordFailure(simulation.now(), what, error, startedWhileClosing));
  }

  /** Called when a stream of received messages completes. */
  void onReceiveEnd() {
    verify(
        () ->
            Violation.require(
                oracle.allowsEndOfStream(), "received messages ended without a close at", this));
  }

  // ---- called by the scheduler

  @Override
  public boolean isOver() {
    // The layer keeps messages that arrived before the close until a subscriber requests them.
    return closed.isEnded()
        && steps.isEmpty()
        && (receiveSubscriber == null || receiveSubscriber.isEnded());
  }

  /** Returns the number of the host that runs this end: 0 for all servers, 1 for all clients. */
  int host() {
    return index;
  }

  boolean hasFinishedSteps() {
    return steps.isEmpty();
  }

  @Override
  public boolean doWork() {
    boolean worked = emit();
    while (retained.size() > 4 || (steps.isEmpty() && !retained.isEmpty())) {
      retained.remove().release();
    }
    Step step = steps.poll();
    if (step == null) {
      return requestRemaining() || worked;
    }
    trace("step", step);
    execute(step, new SplittableRandom(step.seed()));
    return true;
  }

  /** Emits, in a random half of the calls. Returns whether there was anything to emit. */
  private boolean emit() {
    boolean canEmit = false;
    for (int i = 0; i < sends.size(); i++) {
      canEmit |= sends.get(i).canEmit();
    }
    if (canEmit && schedule().oneIn(2)) {
      for (int i = 0; i < sends.size(); i++) {
        sends.get(i).emit();
      }
    }
    return canEmit;
  }

  private boolean requestRemaining() {
    ReceiveSubscriber subscriber = receiveSubscriber;
    // If the subscription ended at this same moment, resubscribe later, so that time can pass.
    boolean isLate = subscribedAt != simulation.now();
    if (subscriber == null || (subscriber.isEnded() && !closed.isEnded() && isLate)) {
      subscribe();
      return true;
    }
    if (!subscriber.isEnded() && subscriber.hasNoDemand()) {
      subscriber.requestMore(64);
      return true;
    }
    return false;
  }

  private void execute(Step step, SplittableRandom choices) {
    switch (step.action()) {
      case SEND -> send(step);
      case REQUEST -> requestMore(step.count());
      case CANCEL_RECEIVE -> cancelReceive();
      case CANCEL_SEND -> cancelSend();
      case WRITE -> remoteMemory().write(choices, step.maxLength());
      case READ -> {
        for (int i = 0; i < step.count(); i++) {
          remoteMemory().read(choices, step.maxLength());
        }
      }
      case FETCH_ADD -> {
        for (int i = 0; i < step.count(); i++) {
          remoteMemory().fetchAndAdd(choices);
        }
      }
      case COMPARE_SWAP -> remoteMemory().compareAndSwap(choices);
      case CANCEL_OPERATION -> remoteMemory().cancelOperation();
      case CLOSE -> close();
      case DISPOSE -> dispose();
      case MISBEHAVE -> {
        mischief = Mischief.of(step.count());
        mischievous = step;
      }
      case DIE -> simulation.die(index);
      case STALL -> simulation.stall(step);
    }
  }

  /** Returns whether to misbehave in this way now, and clears that: each is done once. */
  boolean takeMischief(Mischief kind) {
    if (mischief != kind) {
      return false;
    }
    mischief = null;
    trace("throws", kind);
    if (kind.endsConnection()) {
      oracle.disrupt();
    }
    return true;
  }

  /** Calls the connection from within a subscriber. */
  void misbehaveOnNext() {
    Mischief now = mischief;
    Step step = mischievous;
    if (now == null || step == null) {
      return;
    }
    switch (now) {
      case THROW_ON_SUBSCRIBE,
          THROW_ON_NEXT,
          THROW_ON_COMPLETE,
          THROW_ON_ERROR,
          PUBLISHER_THROWS_ON_SUBSCRIBE,
          PUBLISHER_THROWS_ON_REQUEST,
          PUBLISHER_THROWS_ON_CANCEL,
          PUBLISHER_FAILS -> {
        return;
      }
      case BLOCK_ON_NEXT -> {
        mischief = null;
        trace("blocks", now);
        simulation.holdUp(index, step);
        return;
      }
      case CANCEL_ON_NEXT -> cancelReceive();
      case CLOSE_ON_NEXT -> close();
      case DISPOSE_ON_NEXT -> dispose();
      case SEND_ON_NEXT ->
          send(new Step(step.number(), connectionNumber, index, Action.SEND, 3, 64, step.seed()));
      case READ_ON_NEXT -> remoteMemory().read(new SplittableRandom(step.seed()), 64);
    }
    mischief = null;
  }

  /** Disposes the connection. */
  void dispose() {
    oracle.disrupt();
    connection.dispose();
  }

  /** Executes no more steps. */
  void dropSteps() {
    steps.clear();
  }

  private void send(Step step) {
    long active = sends.stream().filter(send -> !send.isEnded()).count();
    if (active < settings.maxSends()) {
      TrackedSend send = new TrackedSend(this, sends.size(), step);
      sends.add(send);
      connection.send(send).subscribe(send);
    }
  }

  private void requestMore(int count) {
    if (receiveSubscriber == null || receiveSubscriber.isEnded()) {
      subscribe();
    } else {
      receiveSubscriber.requestMore(count);
    }
  }

  private void subscribe() {
    ReceiveSubscriber subscriber = new ReceiveSubscriber(this);
    receiveSubscriber = subscriber;
    subscribedAt = simulation.now();
    try {
      connection.receive().subscribe(subscriber);
    } catch (Mischief.Thrown e) {
      trace("thrown", e.getMessage());
    }
  }

  private void cancelReceive() {
    if (receiveSubscriber != null && !receiveSubscriber.isEnded()) {
      receiveSubscriber.cancelSubscription();
      mayDiscard |= closing != null;
    }
  }

  private void cancelSend() {
    for (TrackedSend send : sends) {
      if (!send.isEnded()) {
        dropsMessages();
        try {
          send.cancelSend();
        } catch (Mischief.Thrown e) {
          trace("thrown", e.getMessage());
        }
        return;
      }
    }
  }

  /**
   * Starts a graceful close. Without a subscriber, the layer may discard messages that arrive
   * later.
   */
  void close() {
    if (closing == null) {
      mayDiscard |= receiveSubscriber == null || receiveSubscriber.isEnded();
      OperationSubscriber<Void> close =
          new OperationSubscriber<>("close", this, nothing -> {}, mayBeExecuted -> {});
      closing = close;
      oracle.closing();
      connection.close().subscribe(close);
    }
  }

  // ---- checks at the end

  boolean isClosed() {
    return closing != null && closing.isEnded() && isOverForAll();
  }

  /** Returns whether the connection and all operations and subscriptions on it have ended. */
  boolean isOverForAll() {
    return closed.isEnded()
        && isIdle()
        && (receiveSubscriber == null || receiveSubscriber.isEnded());
  }

  /** Returns whether this end began to close. */
  boolean isClosingHere() {
    return closing != null;
  }

  /** Checks that the connection has failed because the peer did not answer. */
  void requireUnreachable() {
    Throwable root = closed.error();
    while (root != null && root.getCause() != null) {
      root = root.getCause();
    }
    boolean right =
        root instanceof PeerUnreachableException || root instanceof RdmaTimeoutException;
    Violation.require(
        right || (root instanceof MemoryLimitException && settings.hasLowCeiling()),
        "the peer was dead, but the connection ended with",
        String.valueOf(root));
  }

  void requireHeapBuffersReleased() {
    sends.forEach(TrackedSend::requireHeapBuffersReleased);
  }

  boolean isIdle() {
    for (int i = 0; i < sends.size(); i++) {
      if (!sends.get(i).isEnded()) {
        return false;
      }
    }
    return remoteMemory().isIdle();
  }

  String describe() {
    return this
        + ": closed "
        + closed.isEnded()
        + ", close "
        + (closing != null && closing.isEnded())
        + ", "
        + sends
        + ", operations "
        + remoteMemory
        + ", receive over "
        + (receiveSubscriber == null || receiveSubscriber.isEnded());
  }

  void checkAtEnd() {
    while (!retained.isEmpty()) {
      retained.remove().release();
    }
    if (!oracle.mayHaveFailed()) {
      remoteMemory().requireAllImmediates();
      if (!peer().mayDiscard) {
        sends.forEach(TrackedSend::requireDelivered);
      }
    }
    region.close();
  }

  /** Runs the checks that require disposed transports. */
  void checkReleased() {
    sends.forEach(TrackedSend::requireReleased);
    remoteMemory().reconcile();
  }

  @Override
  public String toString() {
    return connectionNumber == 0 ? "end " + index : "end " + index + " of " + connectionNumber;
  }
}
