// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.tcp;

import io.verbena.emulated.cm.local.LocalConnectionManagers;
import io.verbena.emulated.crypto.CipherWorkspace;
import io.verbena.emulated.driven.DrivenFabric;
import io.verbena.emulated.engine.Timeline;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.hca.Scheduled;
import io.verbena.emulated.hca.Secrets;
import io.verbena.emulated.iwarp.IwarpFabric;
import io.verbena.emulated.iwarp.IwarpQueuePair;
import io.verbena.emulated.iwarp.StreamFabric;
import io.verbena.emulated.iwarp.StreamUser;
import io.verbena.emulated.iwarp.TcpStream;
import io.verbena.emulated.iwarp.frame.MpaFrame;
import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.FaultDraw;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.emulated.wire.VirtualTime;
import io.verbena.simulation.scenario.Network;
import io.verbena.verbs.Device;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairOptions;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Emulated HCAs that speak iWARP, with their real queue pairs, streams and engines, on simulated
 * TCP connections in virtual time. One thread does everything.
 *
 * <p>A fault schedule applies to the pieces that sockets take. The number of a piece is the offset
 * of its first byte, counted from 0 for each pair of source and destination. The effect of a fault
 * is as after TCP's repair:
 *
 * <ul>
 *   <li>DELAY, REORDER: the piece and all later ones arrive later.
 *   <li>LOSS, CORRUPTION: the same, by the time of a retransmission.
 *   <li>DUPLICATE: no effect.
 *   <li>PARTITION, STOP: they arrive when it is over; if it never ends, as RESET.
 *   <li>RESET: the connection ends before the piece.
 * </ul>
 */
public final class SimulatedTcp extends DrivenFabric implements StreamFabric, Network {
  private static final long CONNECT_NANOS = 1_000_000_000;

  /** The delay of a retransmission, as a multiple of the latency. */
  private static final int RETRANSMISSION = 8;

  /** One in so many reactions takes up to so many latencies; the others take up to one. */
  private static final int LONG_REACTION = 64;

  private static final int WASTE_BYTES = 512;
  private static final int PORT = 5000;
  private static final int MIN_CAPACITY = MpaFrame.MAX_LENGTH;
  private static final int MAX_CAPACITY = 16 * 1024;

  /** Observes the traffic. */
  public interface Tap {
    /** A socket has taken bytes, from number {@code first} on. */
    void sent(long now, int source, int destination, int first, int length);

    /**
     * A fault struck some of the bytes that were sent last.
     *
     * @param connection the number of their connection
     * @param ends whether the connection ends by that
     */
    void struck(long now, int connection, Fault fault, boolean ends);
  }

  private final VirtualTime clock = new VirtualTime();
  private final Timeline timeline = new Entered();
  private final long latency;
  private final FaultDraw draw;
  private final long salt;
  private final Tap tap;
  private final LocalConnectionManagers managers = new LocalConnectionManagers();
  private final Map<Long, Integer> sent = new HashMap<>();
  private final Set<TcpStream> open = new HashSet<>();
  private final Set<TcpStream> running = new HashSet<>();
  private final ByteBuffer waste = ByteBuffer.allocate(WASTE_BYTES);
  private final CipherWorkspace workspace = CipherWorkspace.ofRecords();
  private @Nullable List<Fault> strikes;
  private int onTheirWay;

  /** Creates a network without HCAs. */
  public SimulatedTcp(long seed, FaultSchedule schedule, Tap tap) {
    super(new Secrets(new SplittableRandom(seed)));
    latency = schedule.latency();
    draw = new FaultDraw(schedule);
    salt = FaultDraw.mix(~seed);
    this.tap = tap;
  }

  @Override
  public Device open() {
    return EmulatedDevice.open(this, DeviceLimits.ofStreams(IwarpFabric.NAME, Map.of()), managers);
  }

  @Override
  public VirtualTime clock() {
    return clock;
  }

  @Override
  public boolean step() {
    return clock.runDue() || serveNow() || clock.advance(Long.MAX_VALUE);
  }

  private boolean serveNow() {
    enter();
    try {
      return serve();
    } finally {
      leave();
    }
  }

  @Override
  public void record(List<Fault> into) {
    strikes = into;
  }

  @Override
  public int left() {
    return open.size() + onTheirWay;
  }

  // ---- connections

  /**
   * Begins to connect.
   *
   * @param connection the number of the connection
   * @param source number of the port of the active end
   * @param destination number of the port of the passive end
   * @param user the user of the active end's stream
   * @param asked called with the request at the passive end
   * @return the stream of the active end
   */
  public TcpStream connect(
      int connection,
      int source,
      int destination,
      MpaFrame request,
      StreamUser user,
      TcpStream.Asked asked) {
    long own = FaultDraw.mix(salt + connection);
    OneWay there = oneWay(source, destination, own);
    OneWay back = oneWay(destination, source, ~own);
    SimulatedSocket active = new SimulatedSocket(this, connection, back, there);
    SimulatedSocket passive = new SimulatedSocket(this, connection, there, back);
    active.connect(passive);
    TcpStream stream = TcpStream.active(this, active, request, user);
    call(
        () -> {
          begin(stream, active, CONNECT_NANOS);
          after(latency, () -> begin(TcpStream.passive(this, passive, asked), passive, 0));
          after(2 * latency, active::connected);
        });
    return stream;
  }

  private static OneWay oneWay(int source, int destination, long salt) {
    long chance = FaultDraw.mix(salt ^ 1);
    int most = Long.remainderUnsigned(chance, 2) == 0 ? 2 * MIN_CAPACITY : MAX_CAPACITY;
    int capacity =
        MIN_CAPACITY + (int) Long.remainderUnsigned(FaultDraw.mix(chance), most - MIN_CAPACITY);
    return new OneWay(source, destination, capacity, salt);
  }

  private void begin(TcpStream stream, SimulatedSocket socket, long nanos) {
    open.add(stream);
    socket.carries(stream);
    stream.begin(nanos);
  }

  /** Calls a stream. */
  public void call(Runnable action) {
    enter();
    try {
      action.run();
    } finally {
      leave();
    }
  }

  InetSocketAddress address(int port) {
    try {
      return new InetSocketAddress(
          InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) (1 + port)}), PORT);
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public Timeline time() {
    return timeline;
  }

  @Override
  public ByteBuffer waste() {
    return waste.clear();
  }

  @Override
  public CipherWorkspace workspace() {
    return workspace;
  }

  @Override
  public void runs(TcpStream stream) {
    running.add(stream);
  }

  @Override
  public void stops(TcpStream stream) {
    running.remove(stream);
  }

  boolean isOpen(TcpStream stream) {
    return open.contains(stream);
  }

  boolean runsNow(TcpStream stream) {
    return running.contains(stream);
  }

  @Override
  public void notHalfOpen() {}

  @Override
  public void closed(TcpStream stream) {
    running.remove(stream);
    open.remove(stream);
    ((SimulatedSocket) stream.socket()).close();
  }

  // ---- bytes

  /** Returns the time in nanoseconds after which undelayed bytes arrive. */
  public long latency() {
    return latency;
  }

  /** Returns the time in nanoseconds until a host notices that a socket is ready. */
  long reactionTime(OneWay way) {
    int most = way.choose(LONG_REACTION) == 0 ? LONG_REACTION : 1;
    return way.choose((int) (most * latency));
  }

  /** Runs an action after some time, by a thread that has entered. */
  void after(long nanos, Runnable action) {
    onTheirWay++;
    timeline
        .alarm(
            () -> {
              onTheirWay--;
              action.run();
            })
        .set(clock.now() + nanos);
  }

  /** Runs an action at the other end once all bytes sent before have arrived. */
  void afterBytes(OneWay way, Runnable action) {
    after(way.arrival(clock.now() + latency) - clock.now(), action);
  }

  /** Sends bytes that a socket has taken. */
  void carry(SimulatedSocket from, int length) {
    OneWay way = from.out();
    if (length == 0 || way.isCutOff()) {
      return;
    }
    long key = (long) way.source << Integer.SIZE | way.destination;
    int first = sent.getOrDefault(key, 0);
    int end = first + length;
    sent.put(key, end);
    tap.sent(clock.now(), way.source, way.destination, first, length);
    while (first < end && !way.isCutOff()) {
      int piece = untilNextFault(way, first, end - first);
      send(from, first, piece);
      first += piece;
    }
  }

  /** Returns the number of bytes before the next byte at which a fault begins. */
  private int untilNextFault(OneWay way, int first, int most) {
    int piece = most;
    for (int i = 0; i < draw.size(); i++) {
      int ordinal = draw.get(i).ordinal();
      boolean inside = ordinal > first && ordinal < first + piece;
      if (inside && draw.get(i).concerns(way.source, way.destination, ordinal, clock.now())) {
        piece = ordinal - first;
      }
    }
    return piece;
  }

  private void send(SimulatedSocket from, int first, int length) {
    OneWay way = from.out();
    long now = clock.now();
    long delay = 0;
    for (int i = 0; i < draw.size(); i++) {
      if (!draw.strikes(i, way.source, way.destination, first, now)) {
        continue;
      }
      Fault fault = draw.get(i);
      Fault single = single(fault, way, first, now);
      if (single == null) {
        continue;
      }
      if (strikes != null) {
        strikes.add(single);
      }
      boolean ends = single.kind() == Fault.Kind.RESET;
      tap.struck(now, from.connection(), fault, ends);
      if (ends) {
        cutOff(from, single.amount() == 0);
        return;
      }
      delay += single.amount();
    }
    SimulatedSocket to = from.peer();
    after(way.arrival(now + latency + delay) - now, () -> to.bytesArrive(length));
  }

  /** Returns the effect of a fault on one piece: a DELAY, a RESET, or null for no effect. */
  private @Nullable Fault single(Fault fault, OneWay way, int first, long now) {
    return switch (fault.kind()) {
      case DUPLICATE -> null;
      case DELAY, REORDER -> of(Fault.Kind.DELAY, fault.amount(), way, first);
      case LOSS, CORRUPTION -> of(Fault.Kind.DELAY, RETRANSMISSION * latency, way, first);
      case PARTITION, STOP ->
          fault.until() == Long.MAX_VALUE
              ? of(Fault.Kind.RESET, 0, way, first)
              : of(Fault.Kind.DELAY, fault.until() - now, way, first);
      case RESET -> of(Fault.Kind.RESET, fault.amount(), way, first);
    };
  }

  private static Fault of(Fault.Kind kind, long amount, OneWay way, int first) {
    return new Fault(
        kind,
        way.source,
        way.destination,
        0,
        Long.MAX_VALUE,
        first,
        Fault.ALWAYS,
        amount,
        /* salt= */ 0);
  }

  private void cutOff(SimulatedSocket from, boolean byError) {
    SimulatedSocket to = from.peer();
    from.out().cutOff();
    // The sender is within a call of this socket.
    after(0, from::breaks);
    afterBytes(from.out(), byError ? to::breaks : to::endArrives);
  }

  /** A clock whose alarms run in a thread that has entered. */
  private final class Entered implements Timeline {
    @Override
    public long now() {
      return clock.now();
    }

    @Override
    public Alarm alarm(Runnable action) {
      return clock.alarm(() -> call(action));
    }
  }

  // ---- the fabric

  @Override
  public void wake() {}

  @Override
  public Set<Counter> counted() {
    return Set.of();
  }

  @Override
  public String deviceName() {
    return IwarpFabric.NAME;
  }

  @Override
  public Gid nextGid() {
    return new Gid(secrets().nextLong(), 0);
  }

  @Override
  public EmulatedQueuePair createQueuePair(
      EmulatedProtectionDomain domain, int number, QueuePairOptions options) {
    return new IwarpQueuePair(this, domain, number, options);
  }

  @Override
  public void plug(EmulatedDevice device) {}

  @Override
  public void unplug(EmulatedDevice device) {}

  @Override
  public Scheduled schedule(EmulatedDevice device, Runnable task, long delayNanos) {
    return clock.schedule(delayNanos, task)::cancel;
  }
}
