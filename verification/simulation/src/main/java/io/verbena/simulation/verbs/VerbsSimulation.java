// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import io.verbena.emulated.roce.Aeth;
import io.verbena.emulated.roce.ExtendedHeader;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.SimulatedWire;
import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.FaultLog;
import io.verbena.simulation.scenario.Network;
import io.verbena.simulation.scenario.Trace;
import io.verbena.simulation.scenario.Violation;
import io.verbena.simulation.tcp.SimulatedTcp;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.WorkCompletion;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs a scenario: creates devices and endpoints, executes the operations and checks all
 * completions and packets.
 */
final class VerbsSimulation implements SimulatedWire.Tap, SimulatedTcp.Tap {
  /** The limit of simulation steps. Scenarios that terminate take fewer. */
  private static final int MAX_STEPS = 50_000;

  private static final int BATCH = 16;

  private final VerbsScenario scenario;
  private final Arena arena;
  private final @Nullable Trace trace;
  private final Network network;

  /** The network if it carries iWARP streams, otherwise null. */
  private final @Nullable SimulatedTcp tcp;

  private final List<SimulatedDevice> devices = new ArrayList<>();
  private final List<SimulatedEndpoint> ends = new ArrayList<>();
  private final List<PostedReceives> receives = new ArrayList<>();
  private final List<CompletionQueue> queues = new ArrayList<>();
  private final @Nullable FaultLog[] faultLogs;
  private final boolean[] broken;
  private final boolean lateReceives;
  private final long maxPacketAge;
  private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
  private final List<WorkCompletion> deferredSends = new ArrayList<>();
  private int deferredCount;
  private boolean polling;
  private int drainingEndpoints;
  private int packets;
  private int faultCount;

  /**
   * Creates a simulation that has not started.
   *
   * @param trace prints each packet and event, or null
   */
  VerbsSimulation(VerbsScenario scenario, Arena arena, @Nullable Trace trace) {
    this.scenario = scenario;
    this.arena = arena;
    this.trace = trace;
    if (scenario.medium() == Medium.STREAMS) {
      tcp = new SimulatedTcp(scenario.seed(), scenario.faults(), this);
      network = tcp;
    } else {
      tcp = null;
      network = new PacketNetwork(scenario, arena, this);
    }
    faultLogs = new @Nullable FaultLog[scenario.links().size()];
    broken = new boolean[scenario.links().size()];
    lateReceives =
        scenario.operations().stream()
            .anyMatch(each -> each.kind().takesReceive() && each.receiveAt() > each.at());
    long longest = 0;
    for (Fault fault : scenario.faults().faults()) {
      longest = Math.max(longest, fault.amount());
    }
    maxPacketAge = 4 * (scenario.faults().latency() + longest);
  }

  /**
   * Runs the simulation.
   *
   * @param injectedFaults receives each fault that the wire injected into a packet, or null
   * @throws Violation if the run violates the model
   */
  void run(@Nullable List<Fault> injectedFaults) {
    arena.clear();
    if (injectedFaults != null) {
      network.record(injectedFaults);
    }
    create();
    connect();
    for (Operation operation : scenario.operations()) {
      SimulatedEndpoint end = end(operation.link(), operation.side());
      network.clock().schedule(operation.at(), () -> end.execute(operation));
      if (operation.kind().takesReceive()) {
        network.clock().schedule(operation.receiveAt(), end.peer()::postReceive);
      }
    }
    scheduleLastRequests();
    runUntilIdle();
    ends.forEach(SimulatedEndpoint::requireIdle);
    for (SimulatedEndpoint end : ends) {
      if (end instanceof UnreliableEndpoint unreliable) {
        unreliable.requireReasonForLosses();
      }
    }
    ends.forEach(SimulatedEndpoint::moveToError);
    runUntilIdle();
    ends.forEach(SimulatedEndpoint::requireIdle);
    ends.forEach(SimulatedEndpoint::requireFlushed);
    checkMemory();
    close();
  }

  int packets() {
    return packets;
  }

  int injectedFaults() {
    return faultCount;
  }

  // ---- setup

  private void create() {
    for (int device = 0; device < scenario.devices(); device++) {
      devices.add(new SimulatedDevice(arena));
    }
    int[] resultLengths = new int[2 * scenario.links().size()];
    int[] receiveCounts = new int[resultLengths.length];
    for (Operation operation : scenario.operations()) {
      int index = 2 * operation.link() + operation.side();
      if (ReliableEndpoint.hasResult(operation.kind())) {
        resultLengths[index] += operation.length();
      }
      if (operation.kind().takesReceive()) {
        receiveCounts[index ^ 1]++;
      }
    }
    PostedReceives[] own = createReceives(receiveCounts);
    for (int i = 0; i < resultLengths.length; i++) {
      ConnectionConfig link = scenario.links().get(i / 2);
      ends.add(endpoint(i, link, resultLengths[i], own[i]));
    }
    arena.fillWithPattern();
    devices.forEach(device -> device.open(network.open()));
    for (SimulatedEndpoint end : ends) {
      SimulatedDevice device = device(end);
      end.receives.create(arena, device.domain(), scenario.sharedReceives());
      end.create(device.domain(), device.queue(depth(), scenario.sharedQueue()));
    }
    devices.forEach(device -> queues.addAll(device.queues()));
    for (SimulatedEndpoint end : ends) {
      SimulatedEndpoint other = ends.get(end.index ^ 1);
      end.connect(other, device(other).gid());
    }
  }

  private SimulatedEndpoint endpoint(
      int index, ConnectionConfig link, int reads, PostedReceives own) {
    if (tcp != null) {
      return new StreamEndpoint(this, arena, index, link, reads, own);
    }
    return link.type() == QueuePairType.RC
        ? new ReliableEndpoint(this, arena, index, link, reads, own)
        : new UnreliableEndpoint(this, arena, index, link, own);
  }

  /**
   * Creates the receives of each endpoint. Endpoints that share a receive queue get the same
   * object.
   */
  private PostedReceives[] createReceives(int[] counts) {
    PostedReceives[] receivesByEndpoint = new PostedReceives[counts.length];
    for (int i = 0; i < counts.length; i++) {
      if (receivesByEndpoint[i] == null) {
        List<Integer> users = sharingEndpoints(i, counts.length);
        int count = users.stream().mapToInt(user -> counts[user]).sum();
        boolean datagrams = scenario.links().get(i / 2).type() == QueuePairType.UD;
        PostedReceives made =
            new PostedReceives(
                arena,
                receives.size(),
                count,
                maxLength() + (datagrams ? PostedReceives.GRH_LENGTH : 0));
        receives.add(made);
        users.forEach(user -> receivesByEndpoint[user] = made);
      }
    }
    return receivesByEndpoint;
  }

  /**
   * Returns the indexes of the endpoints that share their receives with the endpoint {@code first},
   * including it.
   */
  private List<Integer> sharingEndpoints(int first, int ends) {
    List<Integer> users = new ArrayList<>(List.of(first));
    ConnectionConfig link = scenario.links().get(first / 2);
    for (int i = first + 1; scenario.sharedReceives() && i < ends; i++) {
      ConnectionConfig other = scenario.links().get(i / 2);
      if (other.type() == link.type() && other.device(i & 1) == link.device(first & 1)) {
        users.add(i);
      }
    }
    return users;
  }

  /** Returns an upper bound of the completions on one queue. */
  private int depth() {
    return 2 * (scenario.operations().size() + 2 * ends.size());
  }

  /**
   * Schedules a last signaled request for each endpoint. Its completion implies those of all
   * unsignaled requests before it.
   */
  private void scheduleLastRequests() {
    long last = 0;
    for (Operation operation : scenario.operations()) {
      last = Math.max(last, operation.at());
    }
    int number = scenario.operations().size();
    for (SimulatedEndpoint end : ends) {
      Operation operation =
          new Operation(
              number++,
              last + 1,
              end.index / 2,
              end.side,
              end.config.type() == QueuePairType.UD ? OperationKind.SEND : OperationKind.WRITE,
              0,
              0,
              0,
              true,
              false,
              false,
              1,
              false,
              0);
      network.clock().schedule(operation.at(), () -> end.execute(operation));
    }
  }

  // ---- running

  private void connect() {
    run(() -> ends.stream().anyMatch(SimulatedEndpoint::isConnecting));
    if (ends.stream().anyMatch(SimulatedEndpoint::isConnecting)) {
      throw new Violation("an endpoint never connected, nor failed to");
    }
  }

  private void runUntilIdle() {
    run(() -> true);
  }

  private void run(BooleanSupplier goesOn) {
    int steps = 0;
    while (goesOn.getAsBoolean() && network.step()) {
      if (++steps > MAX_STEPS) {
        throw new Violation("did not terminate within " + MAX_STEPS + " steps");
      }
      poll();
    }
    poll();
  }

  /** Takes all completions. Of those at one moment, receives are handled first. */
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
          handle(count);
          count = queue.poll(batch);
        }
      }
      if (any) {
        for (int i = 0; i < deferredCount; i++) {
          WorkCompletion completion = deferredSends.get(i);
          ends.get(SimulatedEndpoint.indexOf(completion)).onSendCompletion(completion);
        }
        deferredCount = 0;
        ends.forEach(SimulatedEndpoint::postWaiting);
      }
      if (drainingEndpoints > 0) {
        devices.forEach(device -> device.takeEvents(this::onDrained));
      }
    } finally {
      polling = false;
    }
  }

  private void onDrained(Object pair) {
    for (SimulatedEndpoint end : ends) {
      if (end.pair() == pair) {
        end.onDrained();
        return;
      }
    }
    throw new Violation("SQ_DRAINED for an unknown queue pair: " + pair);
  }

  private void handle(int count) {
    for (int i = 0; i < count; i++) {
      WorkCompletion completion = batch[i];
      if (PostedReceives.isReceive(completion)) {
        PostedReceives of = receives.get(PostedReceives.indexOf(completion));
        SimulatedEndpoint end = receiverOf(of, completion.queuePairNumber());
        if (end == null) {
          throw new Violation("receive completion for an unknown queue pair: " + completion);
        }
        trace("received", end, completion);
        end.onReceiveCompletion(completion, of.complete(completion));
      } else if (SimulatedEndpoint.indexOf(completion) < ends.size()) {
        defer(i);
      } else {
        throw new Violation("completion of an unknown request: " + completion);
      }
    }
  }

  /** Defers a send completion by swapping it with an unused object. */
  private void defer(int i) {
    if (deferredCount == deferredSends.size()) {
      deferredSends.add(new WorkCompletion());
    }
    WorkCompletion free = deferredSends.get(deferredCount);
    deferredSends.set(deferredCount++, batch[i]);
    batch[i] = free;
  }

  @Override
  public void sent(long now, int source, int destination, RocePacket packet) {
    if (trace != null) {
      trace.sent(now, source, destination, packet);
    }
    packets++;
    SimulatedEndpoint receiver = destinationOf(packet, destination);
    if (receiver != null && packet.opcode().isRequest()) {
      receiver.peer().onRequestSent();
    }
    if (packet.opcode().has(ExtendedHeader.AETH) && receiver instanceof ReliableEndpoint to) {
      if (Aeth.isRnrNak(packet.syndrome())) {
        to.peer().sendsRnrNak(packet.psn());
      } else if (packet.syndrome() == Aeth.SEQUENCE_ERROR) {
        to.peer().sendsSequenceErrorNak(packet.psn());
      }
    }
  }

  @Override
  public void struck(long now, int source, int destination, RocePacket packet, Fault fault) {
    if (trace != null) {
      trace.fault(now, fault);
    }
    faultCount++;
    if (fault.kind() == Fault.Kind.DELAY) {
      recordDelay(now, source, destination, fault);
      return;
    }
    SimulatedEndpoint to = destinationOf(packet, destination);
    if (to != null) {
      faultLog(to).record(now, 1 + retryCost(fault, to.config));
      if (fault.kind() == Fault.Kind.DUPLICATE) {
        onDuplicate(to, packet);
      }
    }
  }

  private static void onDuplicate(SimulatedEndpoint to, RocePacket packet) {
    if (to instanceof UnreliableEndpoint end) {
      end.onDuplicated(packet.psn());
    } else if (to instanceof ReliableEndpoint end
        && packet.opcode().has(ExtendedHeader.AETH)
        && Aeth.isRnrNak(packet.syndrome())) {
      end.onDuplicatedRnrNak();
    }
  }

  /** Records a delay, which affects all later packets on the same cable. */
  private void recordDelay(long now, int source, int destination, Fault fault) {
    for (SimulatedEndpoint end : ends) {
      if (end.config.device(end.side) == destination && end.config.device(1 - end.side) == source) {
        faultLog(end).record(now, 1 + retryCost(fault, end.config));
      }
    }
  }

  private @Nullable SimulatedEndpoint destinationOf(RocePacket packet, int destination) {
    for (SimulatedEndpoint end : ends) {
      if (end.config.device(end.side) == destination
          && end.pair().number() == packet.destinationQueuePair()) {
        return end;
      }
    }
    return null;
  }

  private FaultLog faultLog(SimulatedEndpoint end) {
    FaultLog log = faultLogs[end.index / 2];
    if (log == null) {
      log = new FaultLog();
      faultLogs[end.index / 2] = log;
    }
    return log;
  }

  /** Returns the number of timeouts that may expire while a packet is delayed. */
  private static long retryCost(Fault fault, ConnectionConfig link) {
    return switch (fault.kind()) {
      case DELAY, REORDER, DUPLICATE -> fault.amount() / link.timeoutNanos();
      case LOSS, CORRUPTION, PARTITION, STOP, RESET -> 0;
    };
  }

  @Override
  public void arrives(long now, int source, int destination, RocePacket packet) {
    if (trace != null) {
      trace.arrived(now, source, destination, packet);
    }
    if (destinationOf(packet, destination) instanceof UnreliableEndpoint to) {
      poll();
      to.onArrival(packet.psn());
    }
  }

  @Override
  public void sent(long now, int source, int destination, int first, int length) {
    if (trace != null) {
      trace.event(
          now, source + " -> " + destination, "bytes", first + " to " + (first + length - 1));
    }
    packets++;
  }

  @Override
  public void struck(long now, int connection, Fault fault, boolean ends) {
    if (trace != null) {
      trace.fault(now, fault);
    }
    faultCount++;
    broken[connection] |= ends;
  }

  // ---- called by the endpoints

  /** Returns the network, which must carry iWARP streams. */
  SimulatedTcp tcp() {
    SimulatedTcp streams = tcp;
    if (streams == null) {
      throw new IllegalStateException("packets");
    }
    return streams;
  }

  /** Returns whether a fault has ended the stream of a connection. */
  boolean isBroken(int link) {
    return broken[link];
  }

  /** Returns whether a message may arrive before its receive is posted. */
  boolean hasLateReceives() {
    return lateReceives;
  }

  /** Returns the bytes of the largest message that fits into a receive. */
  int maxLength() {
    return scenario.maxLength();
  }

  long now() {
    return network.clock().now();
  }

  /** Returns whether requesters split a long READ into parts. */
  boolean readsInParts() {
    return scenario.flowControl().readPart() < Integer.MAX_VALUE;
  }

  /** Schedules an action of an endpoint. */
  void later(long nanos, Runnable action) {
    network.clock().schedule(nanos, action);
  }

  /** Changes the number of endpoints that wait for SQ_DRAINED. */
  void changeDraining(int change) {
    drainingEndpoints += change;
  }

  private SimulatedEndpoint end(int link, int side) {
    return ends.get(2 * link + side);
  }

  /**
   * Returns the cost, in retries, of the faults injected into packets between an endpoint and its
   * peer since a time, including packets in flight at that time.
   */
  long faultCostSince(SimulatedEndpoint end, long moment) {
    return faultLog(end).costSince(moment - maxPacketAge);
  }

  /** Returns the device of an endpoint. */
  SimulatedDevice device(SimulatedEndpoint end) {
    return devices.get(end.config.device(end.side));
  }

  /**
   * Returns a valid key of a type 2 window that another queue pair of the same device has bound, or
   * null.
   */
  @Nullable KeyLifetime foreignWindowKey(ReliableEndpoint end) {
    int device = end.config.device(end.side);
    for (SimulatedEndpoint other : ends) {
      if (other != end
          && other instanceof ReliableEndpoint reliable
          && other.config.device(other.side) == device) {
        KeyLifetime life = reliable.grants().type2Key();
        if (life != null) {
          return life;
        }
      }
    }
    return null;
  }

  /**
   * Returns the endpoint that uses these receives and has this queue pair number. Numbers are
   * unique per device only.
   */
  private @Nullable SimulatedEndpoint receiverOf(PostedReceives of, int number) {
    for (SimulatedEndpoint end : ends) {
      if (end.receives == of && end.pair().number() == number) {
        return end;
      }
    }
    return null;
  }

  void trace(String what, SimulatedEndpoint end, Object subject) {
    if (trace != null) {
      trace.event(now(), what, end, subject);
    }
  }

  // ---- checks at the end

  private void checkMemory() {
    for (SimulatedEndpoint end : ends) {
      end.reconcile();
    }
    devices.forEach(SimulatedDevice::reconcile);
    int at = arena.mismatch();
    if (at >= 0) {
      throw new Violation("byte " + at + " of memory has an unexpected value");
    }
  }

  private void close() {
    ends.forEach(SimulatedEndpoint::close);
    receives.forEach(PostedReceives::close);
    devices.forEach(SimulatedDevice::close);
    int timers = network.clock().pending();
    if (timers + network.left() > 0) {
      throw new Violation(
          "left at the end: timers " + timers + ", packets, frames, streams " + network.left());
    }
  }
}
