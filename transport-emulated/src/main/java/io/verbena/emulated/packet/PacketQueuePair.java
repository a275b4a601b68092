// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import io.verbena.emulated.driven.DrivenQueuePair;
import io.verbena.emulated.engine.EngineOptions;
import io.verbena.emulated.engine.FrameSink;
import io.verbena.emulated.engine.PeerWindow;
import io.verbena.emulated.engine.QueuePairEngine;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.lock.PacketLock;
import io.verbena.emulated.roce.Frame;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import org.jspecify.annotations.Nullable;

/** A queue pair that talks in packets: the engine that works its queues off. */
final class PacketQueuePair extends DrivenQueuePair {
  /** Packets that it may send before others have their turn. */
  private static final int TURN = 64;

  private static final Gid NOBODY = new Gid(0, 0);

  private final PacketFabric fabric;
  private final QueuePairEngine engine;

  /** What the engine was last told; for its caller. */
  private QueuePairAttributes told = new QueuePairAttributes();

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
    super(fabric, domain, number, options);
    this.fabric = fabric;
    engine =
        new QueuePairEngine(
            new EngineOptions(
                options.type(),
                number,
                shared() != null,
                maxReceiveScatterGather(),
                device().attributes().maxMessageSize(),
                fabric.mtu().bytes(),
                fabric.flowControl()),
            host(),
            sends(),
            fabric.timeline(),
            new Out(port));
  }

  @Override
  protected boolean serve() {
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
  protected void communicationEstablished() {
    fabric.established(this);
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
      dropPosted();
    }
    if (to != QueuePairState.ERR) {
      takesReceives();
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
}
