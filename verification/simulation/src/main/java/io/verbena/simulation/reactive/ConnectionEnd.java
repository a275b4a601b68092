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

/** One end of the connection of a run, and what it does with it when it has its turn. */
final class ConnectionEnd implements DutyCycle {
  private final ReactiveSimulation run;
  private final int number;
  private final SplittableRandom random;
  private final RdmaConnection connection;
  private final RdmaOptions options;
  private final ArrayDeque<Step> steps = new ArrayDeque<>();
  private final RdmaMemory.Region region;
  private final int shared;

  private final List<TrackedSend> sends = new ArrayList<>();
  private final Deque<ByteBuf> kept = new ArrayDeque<>();
  private @Nullable ReceiveSubscriber receiving;
  private @Nullable ConnectionEnd peer;
  private @Nullable RemoteMemoryModel reach;
  private @Nullable OperationSubscriber<Void> closing;
  private final OperationSubscriber<Void> closed;
  private final int mostSends;
  private boolean cancelledAny;
  private boolean mayDiscard;

  /**
   * An end of a connection that is established.
   *
   * @param shared the place in the arena of what its peer reaches
   */
  ConnectionEnd(ReactiveSimulation run, int number, RdmaConnection connection, Arena arena, int shared) {
    this.run = run;
    this.number = number;
    this.connection = connection;
    this.shared = shared;
    options = run.script().options();
    random = new SplittableRandom(run.script().seed() * 31 + number);
    mostSends = 1 + random.nextInt(2);
    for (Step step : run.script().list()) {
      if (step.side() == number) {
        steps.add(step);
      }
    }
    region =
        connection
            .memory()
            .register(
                arena.memory.slice(shared, RemoteMemoryModel.LENGTH), EnumSet.allOf(RemoteMemory.Right.class));
    closed = new OperationSubscriber<>("onClose", this, nothing -> {}, mayBeDone -> {});
    connection.onClose().subscribe(closed);
    connection.immediates().subscribe(new ImmediateSubscriber(this));
  }

  void meet(ConnectionEnd other, Arena arena) {
    peer = other;
    reach = new RemoteMemoryModel(this, connection, other.region.token(), arena, other.shared);
  }

  ConnectionEnd peer() {
    ConnectionEnd other = peer;
    if (other == null) {
      throw new IllegalStateException("alone");
    }
    return other;
  }

  RemoteMemoryModel reach() {
    RemoteMemoryModel own = reach;
    if (own == null) {
      throw new IllegalStateException("alone");
    }
    return own;
  }

  // ---- for its sends, subscribers and operations

  boolean chance(int oneIn) {
    return random.nextInt(oneIn) == 0;
  }

  int upTo(int most) {
    return random.nextInt(most + 1);
  }

  int messageLength() {
    int most = chance(3) ? 6 * options.eagerSize() : options.eagerSize() + 8;
    return TestMessage.LEAST_LENGTH + random.nextInt(most);
  }

  ByteBuf allocate(int length) {
    return connection.memory().allocator().directBuffer(length);
  }

  boolean isClosing() {
    return run.blame().isClosing();
  }

  /** See {@link ReactiveSimulation#claim}. */
  void claim(Runnable claim) {
    run.claim(claim);
  }

  void tell(String what, Object about) {
    run.tell(what, this, about);
  }

  /** Of two ends, the one that sends asks for no more than the other has granted. */
  void checkCredits() {
    claim(this::claimCredits);
  }

  private void claimCredits() {
    boolean uncounted = cancelledAny || peer().cancelledAny || peer().mayDiscard;
    if (uncounted || run.blame().isBroken()) {
      return;
    }
    long outstanding = 0;
    for (TrackedSend send : sends) {
      outstanding += send.demand() + send.undelivered();
    }
    // Where one holds all credits unused, another is asked for messages that take their place.
    long most = (long) mostSends * options.window() + mostSends - 1;
    Violation.require(outstanding <= most, "more asked for than " + most + " messages:", sends);
  }

  void received(ByteBuf message) {
    claim(() -> take(message));
  }

  private void take(ByteBuf message) {
    List<TrackedSend> from = peer().sends;
    Violation.require(
        message.readableBytes() >= TestMessage.LEAST_LENGTH
            && TestMessage.send(message) >= 0
            && TestMessage.send(message) < from.size(),
        "a message of nobody:",
        message);
    from.get(TestMessage.send(message)).deliver(message);
    if (chance(4)) {
      kept.add(message);
    } else {
      message.release();
    }
  }

  /**
   * Something of it failed.
   *
   * @param late whether it was begun when an end was closing
   */
  void failed(String what, Throwable error, boolean late) {
    tell("failed", what + ": " + error.getMessage());
    claim(() -> run.blame().failed(run.now(), what, error, late));
  }

  /** All that comes has ended. */
  void receiveEnds() {
    claim(
        () ->
            Violation.require(run.blame().explainsEnd(), "all ends, and nobody closes, at", this));
  }

  // ---- turns

  @Override
  public boolean isOver() {
    // What came before the end is still to be asked for: the layer keeps it until then.
    return closed.isOver() && steps.isEmpty() && (receiving == null || receiving.isOver());
  }

  boolean isDone() {
    return steps.isEmpty();
  }

  @Override
  public boolean doWork() {
    boolean worked = false;
    if (chance(2)) {
      for (int i = 0; i < sends.size(); i++) {
        worked |= sends.get(i).emit();
      }
    }
    while (kept.size() > 4 || (steps.isEmpty() && !kept.isEmpty())) {
      kept.remove().release();
    }
    Step step = steps.poll();
    if (step == null) {
      return drainReceives() || worked;
    }
    tell("step", step);
    act(step.act(), new SplittableRandom(step.salt()));
    return true;
  }

  private boolean drainReceives() {
    ReceiveSubscriber subscriber = receiving;
    if (subscriber == null || (subscriber.isOver() && !closed.isOver())) {
      subscribe();
      return true;
    }
    if (!subscriber.isOver() && subscriber.isStarving()) {
      subscriber.ask(64);
      return true;
    }
    return false;
  }

  private void act(Action act, SplittableRandom chance) {
    switch (act) {
      case SEND -> send(1 + chance.nextInt(30));
      case ASK -> ask(1 + chance.nextInt(6));
      case CANCEL_RECEIVE -> {
        if (chance.nextInt(3) == 0) {
          cancelReceive();
        }
      }
      case CANCEL_SEND -> {
        if (chance.nextInt(4) == 0) {
          cancelSend();
        }
      }
      case WRITE -> reach().write(chance);
      case READ -> reach().read(chance);
      case ADD -> reach().add(chance);
      case SWAP -> reach().swap(chance);
      case CANCEL_OPERATION -> reach().cancelOne(chance);
      case CLOSE -> close();
      case DISPOSE -> {
        run.blame().disturb();
        connection.dispose();
      }
      case HOLD -> {
        run.blame().disturb();
        run.hold(chance.nextLong(2 * options.operationTimeout().toNanos()));
      }
    }
  }

  private void send(int count) {
    long active = sends.stream().filter(send -> !send.isOver()).count();
    if (active < mostSends) {
      TrackedSend send = new TrackedSend(this, sends.size(), count);
      sends.add(send);
      connection.send(send).subscribe(send);
    }
  }

  private void ask(int count) {
    if (receiving == null || receiving.isOver()) {
      subscribe();
    } else {
      receiving.ask(count);
    }
  }

  private void subscribe() {
    ReceiveSubscriber subscriber = new ReceiveSubscriber(this);
    receiving = subscriber;
    connection.receive().subscribe(subscriber);
  }

  private void cancelReceive() {
    if (receiving != null && !receiving.isOver()) {
      receiving.giveUp();
      mayDiscard |= closing != null;
    }
  }

  private void cancelSend() {
    for (TrackedSend send : sends) {
      if (!send.isOver()) {
        cancelledAny = true;
        send.giveUp();
        return;
      }
    }
  }

  /** Begins a graceful close; without a subscriber it wants no more of what comes. */
  void close() {
    if (closing == null) {
      mayDiscard |= receiving == null || receiving.isOver();
      OperationSubscriber<Void> close = new OperationSubscriber<>("close", this, nothing -> {}, mayBeDone -> {});
      closing = close;
      run.blame().close();
      connection.close().subscribe(close);
    }
  }

  // ---- the end

  boolean isClosed() {
    return closed.isOver()
        && closing != null
        && closing.isOver()
        && isQuiet()
        && (receiving == null || receiving.isOver());
  }

  boolean isQuiet() {
    return sends.stream().allMatch(TrackedSend::isOver) && reach().isOver();
  }

  String describe() {
    return this
        + ": closed "
        + closed.isOver()
        + ", close "
        + (closing != null && closing.isOver())
        + ", "
        + sends
        + ", operations "
        + reach
        + ", receive over "
        + (receiving == null || receiving.isOver());
  }

  void checkAtEnd() {
    while (!kept.isEmpty()) {
      kept.remove().release();
    }
    if (!run.blame().isBroken()) {
      reach().requireHeard();
      if (!peer().mayDiscard) {
        sends.forEach(TrackedSend::requireDelivered);
      }
    }
    region.close();
  }

  /** When the transports are disposed. */
  void checkReleased() {
    sends.forEach(TrackedSend::requireReleased);
    reach().settle();
  }

  @Override
  public String toString() {
    return "end " + number;
  }
}
