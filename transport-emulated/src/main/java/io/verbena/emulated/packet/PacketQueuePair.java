// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import io.verbena.emulated.engine.EngineOptions;
import io.verbena.emulated.engine.FrameSink;
import io.verbena.emulated.engine.PeerWindow;
import io.verbena.emulated.engine.QueuePairEngine;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.hca.EmulatedSharedReceiveQueue;
import io.verbena.emulated.hca.ReceiveRing;
import io.verbena.emulated.hca.TakenReceives;
import io.verbena.emulated.lock.PacketLock;
import io.verbena.emulated.roce.Frame;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairReading.Figure;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair that talks in packets: its queues, and the engine that works them off. Posts copy
 * requests in and ring; whoever drives the fabric then calls the engine.
 */
final class PacketQueuePair extends EmulatedQueuePair {
  /** Packets that it may send before others have their turn. */
  private static final int TURN = 64;

  private static final Gid NOBODY = new Gid(0, 0);

  private final PacketFabric fabric;
  private final PacketSendQueue sends;
  private final ReceiveRing receives;

  /** With a shared receive queue: each receive passes through {@link #receives}. */
  private final @Nullable TakenReceives taken;

  private final PacketHost host;
  private final QueuePairEngine engine;
  private final Doorbells.Bell bell = new Doorbells.Bell(this);

  /** What the engine was last told; for its caller. */
  private QueuePairAttributes told = new QueuePairAttributes();

  private boolean lastReceiveTold;

  /** The peer, if it is connected to one. */
  private Gid peer = NOBODY;

  /** What seals its packets; for the caller of the engine. */
  private @Nullable PacketLock lock;

  /** The way out for its engine: its port, by way of its lock. */
  private final class Out implements FrameSink {
    private final PacketPort port;

    Out(PacketPort port) {
      this.port = port;
    }

    @Override
    public Frame frame() {
      return port.frame();
    }

    @Override
    public void send(Frame frame, AddressVector to) {
      port.send(frame, to.destination(), lock);
    }

    @Override
    public boolean isFull() {
      return port.isFull();
    }

    @Override
    public @Nullable PeerWindow window(AddressVector to) {
      return port.window(to);
    }

    @Override
    public boolean isBehind() {
      return port.isBehind();
    }
  }

  PacketQueuePair(
      PacketFabric fabric,
      EmulatedProtectionDomain domain,
      int number,
      QueuePairOptions options,
      PacketPort port) {
    super(domain, number, options);
    this.fabric = fabric;
    sends = new PacketSendQueue(this, options);
    EmulatedSharedReceiveQueue shared = shared();
    taken = shared == null ? null : new TakenReceives(shared);
    receives =
        shared == null
            ? new ReceiveRing(options.maxReceive(), options.maxReceiveScatterGather())
            : new ReceiveRing(1, shared.maxScatterGather());
    host = new PacketHost(this);
    engine =
        new QueuePairEngine(
            new EngineOptions(
                options.type(),
                number,
                shared != null,
                receives.maxScatterGather(),
                device().attributes().maxMessageSize(),
                fabric.mtu().bytes(),
                fabric.flowControl()),
            host,
            sends,
            fabric.timeline(),
            new Out(port));
  }

  PacketFabric fabric() {
    return fabric;
  }

  ReceiveRing receives() {
    return receives;
  }

  /** For the caller of the engine: whether there is a receive, which {@link #receives} tells of. */
  boolean hasReceive() {
    return receives.hasNext() || (taken != null && taken.takeInto(receives) && receives.hasNext());
  }

  @Override
  public void postSend(SendWorkRequest request) {
    sends.posting.acquire();
    try {
      for (SendWorkRequest next = request; next != null; next = next.next()) {
        sends.post(next);
      }
    } finally {
      sends.posting.release();
      ring();
    }
  }

  @Override
  public void bindMemoryWindow(SendWorkRequest request) {
    sends.posting.acquire();
    try {
      sends.bind(request);
    } finally {
      sends.posting.release();
      ring();
    }
  }

  @Override
  public void postReceive(ReceiveWorkRequest request) {
    if (taken != null) {
      throw new PostException(
          VerbsError.INVALID, request.id(), "the queue pair takes from a shared receive queue");
    }
    receives.posting.acquire();
    try {
      if (isClosed()) {
        throw closedError(request.id());
      }
      if (state() == QueuePairState.RESET) {
        throw new PostException(
            VerbsError.INVALID, request.id(), "state: RESET (expected: INIT or later)");
      }
      for (ReceiveWorkRequest next = request; next != null; next = next.next()) {
        receives.post(next);
      }
    } finally {
      receives.posting.release();
      // A receive matters to the engine only as one to flush: a peer that found none asks again.
      if (state() == QueuePairState.ERR) {
        ring();
      }
    }
  }

  /** Rings for a call of the engine; for any thread. */
  void ring() {
    fabric.ring(bell);
  }

  /** For the caller of the engine: does what it was rung for; true if there is more to send. */
  boolean serve() {
    engine.posted();
    return engine.run(TURN);
  }

  /** For the caller of the engine: whether a packet comes from whom it is connected to. */
  boolean listensTo(Frame frame) {
    return switch (type()) {
      case RC, UC -> UdpGid.isFrom(frame, peer);
      case UD -> true;
    };
  }

  /** Until it is reset, it sends and takes nothing but what this lock seals. */
  void protect(PacketLock by) {
    fabric.enter();
    try {
      lock = by;
    } finally {
      fabric.leave();
    }
  }

  /** For the caller of the engine: what its packets are sealed by, or null. */
  @Nullable PacketLock lock() {
    return lock;
  }

  /** For the caller of the engine: if it is connected to this HCA, nobody answers any more. */
  void departed(Gid from) {
    if (peer.equals(from)) {
      engine.peerGone();
    }
  }

  /** For the caller of the engine: a packet came. */
  void receive(Frame frame) {
    engine.receive(frame);
    ring();
  }

  @Override
  protected void readQueues(Map<Figure, Long> into) {
    sends.read(into);
    receives.read(taken, into);
  }

  @Override
  protected void freeSends(long position) {
    sends.free(position);
  }

  @Override
  protected void freeReceives(long position) {
    receives.free(position);
    if (taken != null) {
      taken.polled();
    }
  }

  @Override
  protected boolean isDraining() {
    fabric.enter();
    try {
      return engine.isDraining();
    } finally {
      fabric.leave();
    }
  }

  /** A peer that found none asks again. */
  @Override
  protected void receivePosted() {}

  @Override
  protected void attributesChanged() {
    QueuePairState now = state();
    if (now != QueuePairState.ERR) {
      Runnable unused = entered(now);
    }
  }

  @Override
  protected Runnable entered(QueuePairState to) {
    QueuePairAttributes now = attributes();
    fabric.enter();
    try {
      if (to == QueuePairState.ERR || to == QueuePairState.RESET) {
        // What the peer was owed by now, an RNIC would have sent.
        engine.answer();
        fabric.catchUp();
      }
      // Meanwhile the engine may have gone to ERR by itself, which then is where it stays.
      if (state() == to) {
        tell(to, now);
      }
    } finally {
      fabric.leave();
    }
    return () -> {};
  }

  private void tell(QueuePairState to, QueuePairAttributes attributes) {
    if (to == QueuePairState.RESET) {
      lock = null;
      sends.clear();
      receives.posting.acquire();
      receives.clear();
      receives.posting.release();
      if (taken != null) {
        taken.drop();
      }
    }
    if (to != QueuePairState.ERR) {
      lastReceiveTold = false;
    }
    told = attributes;
    AddressVector vector = attributes.addressVector();
    peer = vector == null ? NOBODY : vector.destination();
    engine.modify(to, attributes);
    ring();
  }

  @Override
  protected void flush() {
    fabric.enter();
    try {
      fabric.catchUp();
      if (state() == QueuePairState.ERR) {
        engine.modify(QueuePairState.ERR, told);
        ring();
      }
    } finally {
      fabric.leave();
    }
  }

  /** For the caller of the engine: once it takes no more shared receives; false if told already. */
  boolean tellsLastReceive() {
    boolean first = !lastReceiveTold;
    lastReceiveTold = true;
    return first;
  }

  @Override
  protected void awaitHandover() {
    fabric.awaitTurn();
  }

  @Override
  protected void awaitCopies() {
    fabric.awaitTurn();
  }

  /** It has the fabric's turn, so nobody else copies, and awaiting the turn is no waiting. */
  @Override
  protected void beginWait() {}

  @Override
  protected void endWait() {}
}
