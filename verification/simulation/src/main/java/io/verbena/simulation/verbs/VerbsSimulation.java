package io.verbena.simulation.verbs;

import io.verbena.emulated.SimulatedFabric;
import io.verbena.emulated.roce.Aeth;
import io.verbena.emulated.roce.ExtendedHeader;
import io.verbena.emulated.roce.Frame;
import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.SimulatedWire;
import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.FaultLog;
import io.verbena.simulation.scenario.Trace;
import io.verbena.simulation.scenario.Violation;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.WorkCompletion;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One run of a plan: makes everything, does what is planned, and checks all that happens. */
final class VerbsSimulation implements SimulatedWire.Tap {
  /** No plan that comes to an end takes more. */
  private static final int MAX_STEPS = 50_000;

  private static final int BATCH = 16;

  private final VerbsScenario plan;
  private final Arena arena;
  private final @Nullable Trace trace;
  private final SimulatedFabric fabric;
  private final List<SimulatedDevice> devices = new ArrayList<>();
  private final List<SimulatedEndpoint> ends = new ArrayList<>();
  private final List<PostedReceives> receives = new ArrayList<>();
  private final List<CompletionQueue> queues = new ArrayList<>();
  private final @Nullable FaultLog[] harm;
  private final long lateness;
  private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
  private final List<WorkCompletion> sends = new ArrayList<>();
  private int sendsHeld;
  private boolean polling;
  private int draining;
  private int packets;
  private int strikes;

  /**
   * A run to be.
   *
   * @param trace who tells what happens, or null
   */
  VerbsSimulation(VerbsScenario plan, Arena arena, @Nullable Trace trace) {
    this.plan = plan;
    this.arena = arena;
    this.trace = trace;
    fabric = new SimulatedFabric(plan.seed(), plan.faults(), plan.flow(), arena.flights);
    harm = new @Nullable FaultLog[plan.links().size()];
    long longest = 0;
    for (Fault fault : plan.faults().faults()) {
      longest = Math.max(longest, fault.amount());
    }
    lateness = 4 * (plan.faults().latency() + longest);
  }

  /**
   * Runs it.
   *
   * @param strikesInto gets what the wire did to single packets, if not null
   * @throws Violation if a promise was broken
   */
  void run(@Nullable List<Fault> strikesInto) {
    arena.clear();
    fabric.wire().tap(this);
    if (strikesInto != null) {
      fabric.wire().record(strikesInto);
    }
    create();
    for (Operation operation : plan.operations()) {
      SimulatedEndpoint end = end(operation.link(), operation.side());
      fabric.time().schedule(operation.at(), () -> end.come(operation));
      if (operation.kind().takesReceive()) {
        fabric.time().schedule(operation.receiveAt(), end.peer()::postReceive);
      }
    }
    scheduleLast();
    settleDown();
    ends.forEach(SimulatedEndpoint::requireIdle);
    for (SimulatedEndpoint end : ends) {
      if (end instanceof UnreliableEndpoint unreliable) {
        unreliable.requireExcuses();
      }
    }
    ends.forEach(SimulatedEndpoint::stop);
    settleDown();
    ends.forEach(SimulatedEndpoint::requireIdle);
    ends.forEach(SimulatedEndpoint::requireFlushed);
    checkMemory();
    close();
  }

  int packets() {
    return packets;
  }

  int strikes() {
    return strikes;
  }

  // ---- making

  private void create() {
    for (int device = 0; device < plan.devices(); device++) {
      devices.add(new SimulatedDevice(arena));
    }
    int[] answers = new int[2 * plan.links().size()];
    int[] receiveCounts = new int[answers.length];
    for (Operation operation : plan.operations()) {
      int index = 2 * operation.link() + operation.side();
      if (ReliableEndpoint.bringsAnswer(operation.kind())) {
        answers[index] += operation.length();
      }
      if (operation.kind().takesReceive()) {
        receiveCounts[index ^ 1]++;
      }
    }
    PostedReceives[] own = receivesOf(receiveCounts);
    for (int i = 0; i < answers.length; i++) {
      ConnectionConfig link = plan.links().get(i / 2);
      ends.add(
          link.type() == QueuePairType.RC
              ? new ReliableEndpoint(this, arena, i, link, answers[i], own[i])
              : new UnreliableEndpoint(this, arena, i, link, own[i]));
    }
    arena.fill();
    devices.forEach(device -> device.open(fabric.open()));
    for (SimulatedEndpoint end : ends) {
      SimulatedDevice device = device(end);
      end.receives.create(arena, device.domain(), plan.sharedReceives());
      end.create(device.domain(), device.queue(depth(), plan.sharedQueue()));
    }
    devices.forEach(device -> queues.addAll(device.queues()));
    for (SimulatedEndpoint end : ends) {
      SimulatedEndpoint other = ends.get(end.index ^ 1);
      end.connect(other, device(other).gid());
    }
  }

  /** The receives of each end; those of a device are the same if they share them. */
  private PostedReceives[] receivesOf(int[] counts) {
    PostedReceives[] of = new PostedReceives[counts.length];
    for (int i = 0; i < counts.length; i++) {
      if (of[i] == null) {
        List<Integer> users = sharers(i, counts.length);
        int count = users.stream().mapToInt(user -> counts[user]).sum();
        boolean datagrams = plan.links().get(i / 2).type() == QueuePairType.UD;
        PostedReceives made = new PostedReceives(arena, receives.size(), count, datagrams ? PostedReceives.AREA : 0);
        receives.add(made);
        users.forEach(user -> of[user] = made);
      }
    }
    return of;
  }

  /** The ends, from one on, that share their receives with it. */
  private List<Integer> sharers(int first, int ends) {
    List<Integer> users = new ArrayList<>(List.of(first));
    ConnectionConfig link = plan.links().get(first / 2);
    for (int i = first + 1; plan.sharedReceives() && i < ends; i++) {
      ConnectionConfig other = plan.links().get(i / 2);
      if (other.type() == link.type() && other.device(i & 1) == link.device(first & 1)) {
        users.add(i);
      }
    }
    return users;
  }

  /** As much as can ever complete on one queue. */
  private int depth() {
    return 2 * (plan.operations().size() + 2 * ends.size());
  }

  /** The last request of each end, whose completion tells of all before it. */
  private void scheduleLast() {
    long last = 0;
    for (Operation operation : plan.operations()) {
      last = Math.max(last, operation.at());
    }
    int number = plan.operations().size();
    for (SimulatedEndpoint end : ends) {
      Operation operation =
          new Operation(
              number++,
              last + 1,
              end.index / 2,
              end.side,
              end.plan.type() == QueuePairType.UD ? OperationKind.SEND : OperationKind.WRITE,
              0,
              0,
              0,
              true,
              false,
              false,
              1,
              false,
              0);
      fabric.time().schedule(operation.at(), () -> end.come(operation));
    }
  }

  // ---- running

  private void settleDown() {
    int steps = 0;
    while (fabric.step(Long.MAX_VALUE)) {
      if (++steps > MAX_STEPS) {
        throw new Violation("does not come to an end: more than " + MAX_STEPS + " steps");
      }
      poll();
    }
    poll();
  }

  /** Takes all completions; of those of one moment, receives first. */
  void poll() {
    if (polling) {
      return;
    }
    polling = true;
    try {
      boolean any = false;
      for (CompletionQueue queue : queues) {
        int count = queue.poll(batch);
        while (count > 0) {
          any = true;
          take(count);
          count = queue.poll(batch);
        }
      }
      if (any) {
        for (int i = 0; i < sendsHeld; i++) {
          WorkCompletion completion = sends.get(i);
          ends.get(SimulatedEndpoint.indexOf(completion)).sent(completion);
        }
        sendsHeld = 0;
        ends.forEach(SimulatedEndpoint::pump);
      }
      if (draining > 0) {
        devices.forEach(device -> device.takeEvents(this::drained));
      }
    } finally {
      polling = false;
    }
  }

  private void drained(Object pair) {
    for (SimulatedEndpoint end : ends) {
      if (end.pair() == pair) {
        end.drained();
        return;
      }
    }
    throw new Violation("a queue of nobody has drained: " + pair);
  }

  private void take(int count) {
    for (int i = 0; i < count; i++) {
      WorkCompletion completion = batch[i];
      if (PostedReceives.owns(completion)) {
        PostedReceives of = receives.get(PostedReceives.indexOf(completion));
        SimulatedEndpoint end = taker(of, completion.queuePairNumber());
        if (end == null) {
          throw new Violation("a receive of another queue pair: " + completion);
        }
        trace("received", end, completion);
        end.received(completion, of.complete(completion));
      } else if (SimulatedEndpoint.indexOf(completion) < ends.size()) {
        hold(i);
      } else {
        throw new Violation("a completion of nobody: " + completion);
      }
    }
  }

  /** Keeps a completion for later, by exchange with one that is free. */
  private void hold(int i) {
    if (sendsHeld == sends.size()) {
      sends.add(new WorkCompletion());
    }
    WorkCompletion free = sends.get(sendsHeld);
    sends.set(sendsHeld++, batch[i]);
    batch[i] = free;
  }

  @Override
  public void sent(long now, int source, int destination, Frame frame) {
    if (trace != null) {
      trace.sent(now, source, destination, frame);
    }
    packets++;
    SimulatedEndpoint receiver = addressee(frame, destination);
    if (receiver != null && frame.opcode().isRequest()) {
      receiver.peer().sends();
    }
    if (frame.opcode().has(ExtendedHeader.AETH) && receiver instanceof ReliableEndpoint to) {
      if (Aeth.isRnrNak(frame.syndrome())) {
        to.peer().saysNotReady(frame.psn());
      } else if (frame.syndrome() == Aeth.SEQUENCE_ERROR) {
        to.peer().saysMissing(frame.psn());
      }
    }
  }

  @Override
  public void struck(long now, int source, int destination, Frame frame, Fault strike) {
    if (trace != null) {
      trace.struck(now, strike);
    }
    strikes++;
    if (strike.kind() == Fault.Kind.DELAY) {
      delayAll(now, source, destination, strike);
      return;
    }
    SimulatedEndpoint to = addressee(frame, destination);
    if (to != null) {
      harm(to).add(now, 1 + weight(strike, to.plan));
      if (strike.kind() == Fault.Kind.DUPLICATE) {
        repeated(to, frame);
      }
    }
  }

  private static void repeated(SimulatedEndpoint to, Frame frame) {
    if (to instanceof UnreliableEndpoint end) {
      end.isRepeated(frame.psn());
    } else if (to instanceof ReliableEndpoint end
        && frame.opcode().has(ExtendedHeader.AETH)
        && Aeth.isRnrNak(frame.syndrome())) {
      end.isToldTwice();
    }
  }

  /** What is behind a packet that is late, on the same cable, is late too. */
  private void delayAll(long now, int source, int destination, Fault strike) {
    for (SimulatedEndpoint end : ends) {
      if (end.plan.device(end.side) == destination && end.plan.device(1 - end.side) == source) {
        harm(end).add(now, 1 + weight(strike, end.plan));
      }
    }
  }

  private @Nullable SimulatedEndpoint addressee(Frame frame, int destination) {
    for (SimulatedEndpoint end : ends) {
      if (end.plan.device(end.side) == destination
          && end.pair().number() == frame.destinationQueuePair()) {
        return end;
      }
    }
    return null;
  }

  private FaultLog harm(SimulatedEndpoint end) {
    FaultLog of = harm[end.index / 2];
    if (of == null) {
      of = new FaultLog();
      harm[end.index / 2] = of;
    }
    return of;
  }

  /** How many timeouts may run out while a packet is late. */
  private static long weight(Fault strike, ConnectionConfig link) {
    return switch (strike.kind()) {
      case DELAY, REORDER, DUPLICATE -> strike.amount() / link.timeoutNanos();
      case LOSS, CORRUPTION, PARTITION, STOP -> 0;
    };
  }

  @Override
  public void arrives(long now, int source, int destination, Frame frame) {
    if (trace != null) {
      trace.arrives(now, source, destination, frame);
    }
    if (addressee(frame, destination) instanceof UnreliableEndpoint to) {
      poll();
      to.arrives(frame.psn());
    }
  }

  // ---- what ends ask for

  long now() {
    return fabric.time().now();
  }

  /** Whether the requesters ask for a long READ part by part. */
  boolean readsInParts() {
    return plan.flow().readPart() < Integer.MAX_VALUE;
  }

  /** Has an end do something after a time. */
  void later(long nanos, Runnable action) {
    fabric.time().schedule(nanos, action);
  }

  /** One more end waits to be told that its queue is drained, or one less. */
  void draining(int change) {
    draining += change;
  }

  private SimulatedEndpoint end(int link, int side) {
    return ends.get(2 * link + side);
  }

  /**
   * How much the wire has done to packets between an end and its peer since a moment, and to those
   * that were on their way then.
   */
  long harmSince(SimulatedEndpoint end, long moment) {
    return harm(end).since(moment - lateness);
  }

  /** The device of an end. */
  SimulatedDevice device(SimulatedEndpoint end) {
    return devices.get(end.plan.device(end.side));
  }

  /** A key of a window of type 2 that another queue pair of the device has bound, if any has. */
  @Nullable KeyLifetime windowOfOther(ReliableEndpoint end) {
    int device = end.plan.device(end.side);
    for (SimulatedEndpoint other : ends) {
      if (other != end
          && other instanceof ReliableEndpoint reliable
          && other.plan.device(other.side) == device) {
        KeyLifetime life = reliable.doors().window();
        if (life != null) {
          return life;
        }
      }
    }
    return null;
  }

  /** The end that takes some receives and has a number, which is one of its device's only. */
  private @Nullable SimulatedEndpoint taker(PostedReceives of, int number) {
    for (SimulatedEndpoint end : ends) {
      if (end.receives == of && end.pair().number() == number) {
        return end;
      }
    }
    return null;
  }

  void trace(String what, SimulatedEndpoint end, Object about) {
    if (trace != null) {
      trace.event(now(), what, end, about);
    }
  }

  // ---- the end

  private void checkMemory() {
    for (SimulatedEndpoint end : ends) {
      end.settle();
    }
    devices.forEach(SimulatedDevice::settle);
    int at = arena.mismatch();
    if (at >= 0) {
      throw new Violation("byte " + at + " of memory is not what was there and not what came");
    }
  }

  private void close() {
    ends.forEach(SimulatedEndpoint::close);
    receives.forEach(PostedReceives::close);
    devices.forEach(SimulatedDevice::close);
    int left = fabric.time().pending() + fabric.wire().inFlight() + arena.flights.inUse();
    if (left > 0) {
      throw new Violation(
          "left: alarms "
              + fabric.time().pending()
              + ", packets "
              + fabric.wire().inFlight()
              + ", frames "
              + arena.flights.inUse());
    }
  }
}
