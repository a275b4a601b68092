// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
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
  private final int index;
  private final SplittableRandom random;
  private final RdmaConnection connection;
  private final RdmaOptions options;
  private final ArrayDeque<Step> steps = new ArrayDeque<>();
  private final RdmaMemory.Region region;
  private final int sharedOffset;

  private final List<TrackedSend> sends = new ArrayList<>();
  private final Deque<ByteBuf> retained = new ArrayDeque<>();
  private @Nullable ReceiveSubscriber receiveSubscriber;
  private @Nullable ConnectionEnd peer;
  private @Nullable RemoteMemoryModel remoteMemory;
  private @Nullable OperationSubscriber<Void> closing;
  private final OperationSubscriber<Void> closed;
  private final int maxSends;
  private boolean cancelledSend;
  private boolean mayDiscard;

  /**
   * Creates an end of an established connection.
   *
   * @param sharedOffset the offset in the arena of the memory that its peer accesses
   */
  ConnectionEnd(
      ReactiveSimulation simulation,
      int index,
      RdmaConnection connection,
      Arena arena,
      int sharedOffset) {
    this.simulation = simulation;
    this.index = index;
    this.connection = connection;
    this.sharedOffset = sharedOffset;
    options = simulation.scenario().options();
    random = new SplittableRandom(simulation.scenario().seed() * 31 + index);
    maxSends = 1 + random.nextInt(2);
    for (Step step : simulation.scenario().steps()) {
      if (step.end() == index) {
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

  boolean oneIn(int n) {
    return random.nextInt(n) == 0;
  }

  int nextUpTo(int max) {
    return random.nextInt(max + 1);
  }

  int messageLength() {
    int most = oneIn(3) ? 6 * options.eagerSize() : options.eagerSize() + 8;
    return TestMessage.MIN_LENGTH + random.nextInt(most);
  }

  ByteBuf allocate(int length) {
    return connection.memory().allocator().directBuffer(length);
  }

  boolean isClosing() {
    return simulation.oracle().isClosing();
  }

  /** Whether it may drop what its peer sends, whose sends then fail. */
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
    if (uncounted || simulation.oracle().mayHaveFailed()) {
      return;
    }
    long outstanding = 0;
    for (TrackedSend send : sends) {
      outstanding += send.demand() + send.undelivered();
    }
    // While one send holds all credits unused, another one may request one message in advance.
    long most = (long) maxSends * options.window() + maxSends - 1;
    Violation.require(outstanding <= most, "more messages requested than " + most + ":", sends);
  }

  void onMessage(ByteBuf message) {
    verify(() -> verifyMessage(message));
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
    if (oneIn(4)) {
      retained.add(message);
    } else {
      message.release();
    }
  }

  /**
   * Called when a send, a subscription or an operation fails.
   *
   * @param startedWhileClosing whether it started after an end began to close
   */
  void failed(String what, Throwable error, boolean startedWhileClosing) {
    trace("failed", what + ": " + error.getMessage());
    verify(
        () ->
            simulation.oracle().recordFailure(simulation.now(), what, error, startedWhileClosing));
  }

  /** Called when a stream of received messages completes. */
  void onReceiveEnd() {
    verify(
        () ->
            Violation.require(
                simulation.oracle().allowsEndOfStream(),
                "received messages ended without a close at",
                this));
  }

  // ---- called by the scheduler

  @Override
  public boolean isOver() {
    // The layer keeps messages that arrived before the close until a subscriber requests them.
    return closed.isEnded()
        && steps.isEmpty()
        && (receiveSubscriber == null || receiveSubscriber.isEnded());
  }

  boolean hasFinishedSteps() {
    return steps.isEmpty();
  }

  @Override
  public boolean doWork() {
    boolean worked = false;
    if (oneIn(2)) {
      for (int i = 0; i < sends.size(); i++) {
        worked |= sends.get(i).emit();
      }
    }
    while (retained.size() > 4 || (steps.isEmpty() && !retained.isEmpty())) {
      retained.remove().release();
    }
    Step step = steps.poll();
    if (step == null) {
      return requestRemaining() || worked;
    }
    trace("step", step);
    execute(step.action(), new SplittableRandom(step.seed()));
    return true;
  }

  private boolean requestRemaining() {
    ReceiveSubscriber subscriber = receiveSubscriber;
    if (subscriber == null || (subscriber.isEnded() && !closed.isEnded())) {
      subscribe();
      return true;
    }
    if (!subscriber.isEnded() && subscriber.hasNoDemand()) {
      subscriber.requestMore(64);
      return true;
    }
    return false;
  }

  private void execute(Action action, SplittableRandom choices) {
    switch (action) {
      case SEND -> send(1 + choices.nextInt(30));
      case REQUEST -> requestMore(1 + choices.nextInt(6));
      case CANCEL_RECEIVE -> {
        if (choices.nextInt(3) == 0) {
          cancelReceive();
        }
      }
      case CANCEL_SEND -> {
        if (choices.nextInt(4) == 0) {
          cancelSend();
        }
      }
      case WRITE -> remoteMemory().write(choices);
      case READ -> remoteMemory().read(choices);
      case FETCH_ADD -> remoteMemory().fetchAndAdd(choices);
      case COMPARE_SWAP -> remoteMemory().compareAndSwap(choices);
      case CANCEL_OPERATION -> remoteMemory().cancelOperation(choices);
      case CLOSE -> close();
      case DISPOSE -> {
        simulation.oracle().disrupt();
        connection.dispose();
      }
      case STALL -> {
        simulation.oracle().disrupt();
        simulation.stall(choices.nextLong(2 * options.operationTimeout().toNanos()));
      }
    }
  }

  private void send(int count) {
    long active = sends.stream().filter(send -> !send.isEnded()).count();
    if (active < maxSends) {
      TrackedSend send = new TrackedSend(this, sends.size(), count);
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
    connection.receive().subscribe(subscriber);
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
        cancelledSend = true;
        send.cancelSend();
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
      simulation.oracle().closing();
      connection.close().subscribe(close);
    }
  }

  // ---- checks at the end

  boolean isClosed() {
    return closed.isEnded()
        && closing != null
        && closing.isEnded()
        && isIdle()
        && (receiveSubscriber == null || receiveSubscriber.isEnded());
  }

  boolean isIdle() {
    return sends.stream().allMatch(TrackedSend::isEnded) && remoteMemory().isIdle();
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
    if (!simulation.oracle().mayHaveFailed()) {
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
    return "end " + index;
  }
}
