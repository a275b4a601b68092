package io.verbena.simulation.verbs;

import io.verbena.emulated.SimulatedFabric;
import io.verbena.emulated.roce.Aeth;
import io.verbena.emulated.roce.ExtendedHeader;
import io.verbena.emulated.roce.Frame;
import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.SimulatedWire;
import io.verbena.simulation.run.Arena;
import io.verbena.simulation.run.Harm;
import io.verbena.simulation.run.Trace;
import io.verbena.simulation.run.Violation;
import io.verbena.verbs.Access;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.WorkCompletion;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One run of a plan: makes everything, does what is planned, and checks all that happens. */
final class World implements SimulatedWire.Tap {
  /** No plan that comes to an end takes more. */
  private static final int MAX_STEPS = 50_000;

  private static final int BATCH = 16;

  private final Plan plan;
  private final Arena arena;
  private final @Nullable Trace trace;
  private final SimulatedFabric fabric;
  private final List<Device> devices = new ArrayList<>();
  private final List<ProtectionDomain> domains = new ArrayList<>();
  private final List<MemoryRegion> counterRegions = new ArrayList<>();
  private final Counter[][] counters;
  private final List<Endpoint> ends = new ArrayList<>();
  private final List<CompletionQueue> queues = new ArrayList<>();
  private final @Nullable Harm[] harm;
  private final long lateness;
  private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
  private final List<WorkCompletion> sends = new ArrayList<>();
  private int sendsHeld;
  private boolean polling;
  private int packets;
  private int strikes;

  /**
   * A run to be.
   *
   * @param trace who tells what happens, or null
   */
  World(Plan plan, Arena arena, @Nullable Trace trace) {
    this.plan = plan;
    this.arena = arena;
    this.trace = trace;
    fabric = new SimulatedFabric(plan.seed(), plan.faults(), arena.flights);
    counters = new Counter[plan.devices()][Plan.COUNTERS];
    harm = new @Nullable Harm[plan.links().size()];
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
      Endpoint end = end(operation.link(), operation.side());
      fabric.time().schedule(operation.at(), () -> end.come(operation));
      if (operation.kind().takesReceive()) {
        fabric.time().schedule(operation.receiveAt(), end.peer()::postReceive);
      }
    }
    scheduleLast();
    settleDown();
    ends.forEach(Endpoint::requireIdle);
    ends.forEach(Endpoint::stop);
    settleDown();
    ends.forEach(Endpoint::requireIdle);
    ends.forEach(Endpoint::requireFlushed);
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
      for (int i = 0; i < Plan.COUNTERS; i++) {
        counters[device][i] = new Counter(arena.take(Long.BYTES));
      }
    }
    int[] answers = new int[2 * plan.links().size()];
    int[] receives = new int[answers.length];
    for (Operation operation : plan.operations()) {
      int index = 2 * operation.link() + operation.side();
      if (Endpoint.bringsAnswer(operation.kind())) {
        answers[index] += operation.length();
      }
      if (operation.kind().takesReceive()) {
        receives[index ^ 1]++;
      }
    }
    for (int i = 0; i < answers.length; i++) {
      ends.add(
          new Endpoint(this, arena, i, i & 1, plan.links().get(i / 2), answers[i], receives[i]));
    }
    arena.fill();
    for (int device = 0; device < plan.devices(); device++) {
      open(device);
    }
    for (Endpoint end : ends) {
      int device = end.plan.device(end.side);
      end.create(domains.get(device), queue(device));
    }
    for (Endpoint end : ends) {
      Endpoint other = ends.get(end.index ^ 1);
      end.connect(other, devices.get(other.plan.device(other.side)).port().gids().get(0));
    }
  }

  private void open(int number) {
    Device device = fabric.open();
    devices.add(device);
    ProtectionDomain domain = device.allocateProtectionDomain();
    domains.add(domain);
    int first = counters[number][0].at;
    int end = counters[number][Plan.COUNTERS - 1].at + Long.BYTES;
    for (Counter counter : counters[number]) {
      arena.memory.putLong(counter.at, 0);
      arena.expectLong(counter.at, 0);
    }
    counterRegions.add(
        domain.register(
            arena.memory.slice(first, end - first),
            EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_ATOMIC)));
    if (plan.sharedQueue()) {
      queues.add(device.createCompletionQueue(depth(), null));
    }
  }

  /** As much as can ever complete on one queue. */
  private int depth() {
    return 2 * (plan.operations().size() + 2 * ends.size());
  }

  private CompletionQueue queue(int device) {
    if (plan.sharedQueue()) {
      return queues.get(device);
    }
    CompletionQueue queue = devices.get(device).createCompletionQueue(depth(), null);
    queues.add(queue);
    return queue;
  }

  /** The last request of each end, whose completion tells of all before it. */
  private void scheduleLast() {
    long last = 0;
    for (Operation operation : plan.operations()) {
      last = Math.max(last, operation.at());
    }
    int number = plan.operations().size();
    for (Endpoint end : ends) {
      Operation operation =
          new Operation(
              number++,
              last + 1,
              end.index / 2,
              end.side,
              Kind.WRITE,
              0,
              0,
              0,
              true,
              false,
              false,
              1,
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
          ends.get(Endpoint.indexOf(completion.workRequestId())).sent(completion);
        }
        sendsHeld = 0;
        ends.forEach(Endpoint::pump);
      }
    } finally {
      polling = false;
    }
  }

  private void take(int count) {
    for (int i = 0; i < count; i++) {
      WorkCompletion completion = batch[i];
      long id = completion.workRequestId();
      int index = Endpoint.indexOf(id);
      if (index >= ends.size()) {
        throw new Violation("a completion of nobody: " + completion);
      }
      if (Endpoint.isReceive(id)) {
        trace("received", ends.get(index), completion);
        ends.get(index).received(completion);
      } else {
        hold(i);
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
    if (frame.opcode().has(ExtendedHeader.AETH)) {
      Endpoint to = addressee(frame, destination);
      if (to != null && Aeth.isRnrNak(frame.syndrome())) {
        to.peer().saysNotReady(frame.psn());
      } else if (to != null && frame.syndrome() == Aeth.SEQUENCE_ERROR) {
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
    Endpoint to = addressee(frame, destination);
    if (to != null) {
      harm(to).add(now, 1 + weight(strike, to.plan));
      if (strike.kind() == Fault.Kind.DUPLICATE
          && frame.opcode().has(ExtendedHeader.AETH)
          && Aeth.isRnrNak(frame.syndrome())) {
        to.isToldTwice();
      }
    }
  }

  /** What is behind a packet that is late, on the same cable, is late too. */
  private void delayAll(long now, int source, int destination, Fault strike) {
    for (Endpoint end : ends) {
      if (end.plan.device(end.side) == destination && end.plan.device(1 - end.side) == source) {
        harm(end).add(now, 1 + weight(strike, end.plan));
      }
    }
  }

  private @Nullable Endpoint addressee(Frame frame, int destination) {
    for (Endpoint end : ends) {
      if (end.plan.device(end.side) == destination
          && end.pair().number() == frame.destinationQueuePair()) {
        return end;
      }
    }
    return null;
  }

  private Harm harm(Endpoint end) {
    Harm of = harm[end.index / 2];
    if (of == null) {
      of = new Harm();
      harm[end.index / 2] = of;
    }
    return of;
  }

  /** How many timeouts may run out while a packet is late. */
  private static long weight(Fault strike, LinkPlan link) {
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
  }

  // ---- what ends ask for

  long now() {
    return fabric.time().now();
  }

  private Endpoint end(int link, int side) {
    return ends.get(2 * link + side);
  }

  /**
   * How much the wire has done to packets between an end and its peer since a moment, and to those
   * that were on their way then.
   */
  long harmSince(Endpoint end, long moment) {
    return harm(end).since(moment - lateness);
  }

  /** The counter that an operation on a peer is about. */
  Counter counter(Endpoint peer, Operation operation) {
    return counters[peer.plan.device(peer.side)][operation.target()];
  }

  long counterAddress(Endpoint peer, Counter counter) {
    int device = peer.plan.device(peer.side);
    return counterRegions.get(device).address() + counter.at - counters[device][0].at;
  }

  int counterKey(Endpoint peer) {
    return counterRegions.get(peer.plan.device(peer.side)).rkey();
  }

  void trace(String what, Endpoint end, Object about) {
    if (trace != null) {
      trace.event(now(), what, end, about);
    }
  }

  // ---- the end

  private void checkMemory() {
    for (Endpoint end : ends) {
      end.settle();
    }
    for (Counter[] each : counters) {
      for (Counter counter : each) {
        long sum = arena.memory.getLong(counter.at);
        counter.checkSum(sum);
        arena.expectLong(counter.at, sum);
      }
    }
    int at = arena.mismatch();
    if (at >= 0) {
      throw new Violation("byte " + at + " of memory is not what was there and not what came");
    }
  }

  private void close() {
    ends.forEach(Endpoint::close);
    counterRegions.forEach(MemoryRegion::close);
    queues.forEach(CompletionQueue::close);
    domains.forEach(ProtectionDomain::close);
    for (Device device : devices) {
      checkEvents(device);
      device.close();
    }
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

  private static void checkEvents(Device device) {
    try {
      for (AsyncEvent event = device.awaitAsyncEvent(0);
          event != null;
          event = device.awaitAsyncEvent(0)) {
        switch (event.type()) {
          case CQ_ERR, DEVICE_FATAL, QP_FATAL -> throw new Violation("event " + event.type());
          default -> {}
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
