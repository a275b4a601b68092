// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.engine.TestHost.Region;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.util.EnumSet;
import java.util.Random;
import java.util.function.Consumer;

/** Two engines at the ends of a wire, each with its own region. */
final class Pair {
  static final int MTU = 1024;
  static final int A_PSN = 0xffff_f0;
  static final int B_PSN = 0x10_0000;
  static final int SIZE = 64 * 1024;
  static final long LIMIT_NANOS = 100_000_000_000L;

  final ManualTimeline time = new ManualTimeline();
  final TestWire wire = new TestWire(time);
  final End a;
  final End b;
  final Region atA;
  final Region atB;

  private Pair(
      QueuePairType type,
      boolean sharedReceives,
      Consumer<QueuePairAttributes> change,
      FlowControl flow) {
    a = new End(type, 17, sharedReceives, time, flow);
    b = new End(type, 34, sharedReceives, time, flow);
    a.out = wire.to(a, b, true);
    b.out = wire.to(b, a, false);
    a.withdrawn = wire::withdraw;
    b.withdrawn = wire::withdraw;
    atA = a.host.register(SIZE);
    atB = b.host.register(SIZE);
    new Random(1).nextBytes(atA.bytes);
    new Random(2).nextBytes(atB.bytes);
    configure(a, b, A_PSN, B_PSN);
    configure(b, a, B_PSN, A_PSN);
    change.accept(a.attributes);
    change.accept(b.attributes);
    for (End end : new End[] {a, b}) {
      end.modify(QueuePairState.INIT);
      end.modify(QueuePairState.RTR);
      end.modify(QueuePairState.RTS);
    }
  }

  static Pair reliable() {
    return reliable(attributes -> {});
  }

  static Pair reliable(Consumer<QueuePairAttributes> change) {
    return reliable(FlowControl.FIXED, change);
  }

  static Pair reliable(FlowControl flow, Consumer<QueuePairAttributes> change) {
    return new Pair(QueuePairType.RC, false, change, flow);
  }

  static Pair sharingReceives(QueuePairType type) {
    return new Pair(type, true, attributes -> {}, FlowControl.FIXED);
  }

  static Pair of(QueuePairType type) {
    return new Pair(type, false, attributes -> {}, FlowControl.FIXED);
  }

  private static void configure(End end, End peer, int sendPsn, int receivePsn) {
    end.attributes
        .pathMtu(Mtu.MTU_1024)
        .access(EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC))
        .timeout(10)
        .retryCount(7)
        .rnrRetry(7)
        .minRnrTimer(12)
        .maxReadAtomic(4)
        .maxDestinationReadAtomic(4)
        .queueKey(0x1234)
        .destinationQueuePair(peer.number)
        .addressVector(AddressVector.to(new Gid(0, peer.number)))
        .sendPsn(sendPsn)
        .receivePsn(receivePsn);
  }

  /** Lets packets of both ends refer to payload in memory instead of carrying it. */
  Pair sharing() {
    a.host.shares = true;
    b.host.shares = true;
    return this;
  }

  /** Runs until nothing is left to do. */
  void run() {
    long limit = time.now() + LIMIT_NANOS;
    int steps = 0;
    while (time.step(limit)) {
      if (++steps > 2_000_000) {
        throw new AssertionError("no end after " + steps + " steps");
      }
    }
  }

  /** Runs for this time. */
  void run(long nanos) {
    long limit = time.now() + nanos;
    while (time.step(limit)) {
      // Alarms within the limit run here.
    }
    time.turnTo(limit);
  }

  /** Fills a request with {@code length} bytes of A's region from {@code offset} on. */
  SendWorkRequest fill(SendWorkRequest request, int offset, int length) {
    return request.buffer(atA.address + offset, length, atA.key).signaled();
  }

  SendWorkRequest send(long id, int offset, int length) {
    return fill(new SendWorkRequest().id(id).send(), offset, length);
  }

  SendWorkRequest write(long id, int offset, int length, int to) {
    return fill(new SendWorkRequest().id(id).write(atB.address + to, atB.key), offset, length);
  }

  SendWorkRequest read(long id, int offset, int length, int from) {
    return fill(new SendWorkRequest().id(id).read(atB.address + from, atB.key), offset, length);
  }

  SendWorkRequest fetchAndAdd(long id, int offset, int at, long addend) {
    return fill(
        new SendWorkRequest().id(id).fetchAndAdd(atB.address + at, atB.key, addend), offset, 8);
  }

  /** Posts a receive of {@code length} bytes of B's region from {@code offset} on. */
  void receiveAtB(long id, int offset, int length) {
    b.postReceive(new ReceiveWorkRequest().id(id).buffer(atB.address + offset, length, atB.key));
  }

  /** Returns a packet to B as A's requester might send it. */
  RocePacket toB(PacketOpcode opcode, int psn, int payload) {
    RocePacket frame =
        new RocePacket().start(opcode).destinationQueuePair(b.number).psn(psn).ackRequested(true);
    if (opcode.carriesPayload()) {
      frame.payloadLength(payload);
    }
    return frame;
  }

  /** Delivers a packet to B. */
  void deliverToB(RocePacket frame) {
    b.receive(TestWire.copy(frame));
  }
}
