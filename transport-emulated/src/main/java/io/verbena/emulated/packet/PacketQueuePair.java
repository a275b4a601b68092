// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import io.verbena.emulated.crypto.PacketCipher;
import io.verbena.emulated.driven.DrivenQueuePair;
import io.verbena.emulated.engine.EngineOptions;
import io.verbena.emulated.engine.PacketSink;
import io.verbena.emulated.engine.PeerWindow;
import io.verbena.emulated.engine.QueuePairEngine;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.mapped.ReadGrants;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import org.jspecify.annotations.Nullable;

/** A queue pair whose engine exchanges packets to execute the requests. */
final class PacketQueuePair extends DrivenQueuePair {
  /** The maximum number of packets that it sends before other queue pairs have their turn. */
  private static final int TURN = 64;

  private static final Gid NOBODY = new Gid(0, 0);

  private final PacketFabric fabric;
  private final QueuePairEngine engine;

  /**
   * The attributes that the engine was last given; accessed by the thread that calls the engine.
   */
  private QueuePairAttributes engineAttributes = new QueuePairAttributes();

  /** The peer's GID if it is connected to one, else {@link #NOBODY}. */
  private Gid peer = NOBODY;

  /** The cipher that seals its packets; accessed by the thread that calls the engine. */
  private @Nullable PacketCipher cipher;

  /** Sends the engine's packets through the port, sealed by the cipher. */
  private final class Out implements PacketSink {
    private final PacketPort port;

    Out(PacketPort port) {
      this.port = port;
    }

    @Override
    public RocePacket packet() {
      return port.packet();
    }

    @Override
    public void send(RocePacket packet, AddressVector to) {
      port.send(packet, to.destination(), cipher);
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
    public boolean takesReferences() {
      return cipher == null && port.takesReferences();
    }

    @Override
    public @Nullable ReadGrants readGrants() {
      return cipher == null ? port.readGrants() : null;
    }

    @Override
    public void withdraw(int queuePair) {
      port.withdraw(queuePair);
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

  /**
   * Returns whether a packet comes from the connected peer; always true for UD. Called by the
   * thread that calls the engine.
   */
  boolean listensTo(RocePacket packet) {
    return switch (type()) {
      case RC, UC -> UdpGid.isFrom(packet, peer);
      case UD -> true;
    };
  }

  /** Makes the queue pair send and take only packets that this cipher seals, until it is reset. */
  void protect(PacketCipher by) {
    fabric.enter();
    try {
      cipher = by;
    } finally {
      fabric.leave();
    }
  }

  /**
   * Returns the cipher that seals its packets, or null. Called by the thread that calls the engine.
   */
  @Nullable PacketCipher cipher() {
    return cipher;
  }

  /**
   * Called by the thread that calls the engine when the process of an HCA is gone: if that is the
   * peer, no answers will come.
   */
  void departed(Gid from) {
    if (peer.equals(from)) {
      engine.peerGone();
    }
  }

  /** Takes a packet that has arrived. Called by the thread that calls the engine. */
  void receive(RocePacket packet) {
    engine.receive(packet);
    if (engine.isDue()) {
      ring();
    }
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
        // An RNIC would have sent its pending answers to the peer by now.
        engine.answer();
        fabric.catchUp();
      }
      // Meanwhile the engine may have gone to ERR by itself; then it stays there.
      if (state() == to) {
        notifyEngine(to, now);
      }
    } finally {
      fabric.leave();
    }
    return () -> {};
  }

  private void notifyEngine(QueuePairState to, QueuePairAttributes attributes) {
    if (to == QueuePairState.RESET) {
      cipher = null;
      dropPosted();
    }
    if (to != QueuePairState.ERR) {
      takesReceives();
    }
    engineAttributes = attributes;
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
        engine.modify(QueuePairState.ERR, engineAttributes);
        ring();
      }
    } finally {
      fabric.leave();
    }
  }
}
