// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.mapped.PayloadReference;
import io.verbena.emulated.mapped.ReadGrant;
import io.verbena.emulated.mapped.ReadGrants;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import org.jspecify.annotations.Nullable;

/**
 * The data that the state machines of a queue pair share: its state, its attributes, and the sink
 * of its packets.
 */
final class EngineContext {
  private static final int FLOWS = 0xffff;

  final EngineOptions options;
  final EngineHost host;
  QueuePairState state = QueuePairState.RESET;

  /** Bytes of payload per packet: the path MTU. */
  int mtu;

  int access;
  int queueKey;
  int timeout;
  int retryCount;
  int rnrRetry;
  int minRnrTimer;
  int maxReadAtomic;
  int maxDestinationReadAtomic;
  boolean drainedNotify;

  private final PacketSink sink;
  private final RocePacket packet;
  private int destination;

  /** The flow of all packets of a connection; the same at both ends. */
  private int flow;

  /** Reused; null before the first grant is made or searched for. */
  private @Nullable ReadGrant grant;

  private AddressVector vector = AddressVector.to(new Gid(0, 0));

  /** This queue pair's share of the window that all queue pairs with the same peer share. */
  final WindowShare share;

  EngineContext(EngineOptions options, EngineHost host, PacketSink sink) {
    this.options = options;
    this.host = host;
    this.sink = sink;
    packet = sink.packet();
    share = new WindowShare(host);
  }

  void configure(QueuePairAttributes attributes) {
    mtu = options.type() == QueuePairType.UD ? options.datagramMtu() : attributes.pathMtu().bytes();
    access = Access.bits(attributes.access());
    queueKey = attributes.queueKey();
    timeout = attributes.timeout();
    retryCount = attributes.retryCount();
    rnrRetry = attributes.rnrRetry();
    minRnrTimer = attributes.minRnrTimer();
    maxReadAtomic = attributes.maxReadAtomic();
    maxDestinationReadAtomic = attributes.maxDestinationReadAtomic();
    drainedNotify = attributes.drainedNotify();
    destination = attributes.destinationQueuePair();
    flow = (options.number() ^ destination) & FLOWS;
    AddressVector to = attributes.addressVector();
    if (to != null) {
      vector = to;
      share.of(reliable() ? sink.window(vector) : null);
    }
  }

  boolean isConnected() {
    return options.type() != QueuePairType.UD;
  }

  boolean reliable() {
    return options.type() == QueuePairType.RC;
  }

  /** Returns whether an answer that is this late still arrives before the timeout. */
  boolean toleratesDelay(long nanos) {
    return timeout == 0 || (RetryClock.UNIT_NANOS << timeout) >= nanos;
  }

  /** Returns whether the queue pair grants its peer a right, which is a bit of {@link Access}. */
  boolean allows(int right) {
    return (access & right) != 0;
  }

  /**
   * Returns whether this packet of a READ is the last one of its part, so that a new READ request
   * follows it.
   */
  boolean endsReadPart(int packet) {
    return (packet + 1) % options.flow().readPart() == 0;
  }

  /** Returns whether packets may refer to their payload. */
  boolean takesReferences() {
    return reliable() && sink.takesReferences();
  }

  /** Returns the payload reference of the next packet. */
  PayloadReference reference() {
    return packet.reference();
  }

  /**
   * Lets the peer read the memory that an rkey covers around an address without a packet, if the
   * peer can map it.
   */
  void grantReads(int rkey, long address) {
    ReadGrants grants = sink.readGrants();
    if (grants == null) {
      return;
    }
    ReadGrant what = grant();
    if (host.grantRemote(rkey, address, what)) {
      grants.grant(vector.destination(), what.connection(options.number(), destination));
    }
  }

  /** Revokes all memory that the peer may read without a packet. */
  void revokeReads() {
    ReadGrants grants = sink.readGrants();
    if (grants != null) {
      grants.revoke(options.number());
    }
  }

  /**
   * Returns memory that the peer lets this queue pair read without a packet; null if there is no
   * such grant.
   */
  @Nullable PayloadReference findReadable(int rkey, long address, int length) {
    ReadGrants grants = sink.readGrants();
    if (grants == null) {
      return null;
    }
    ReadGrant wanted =
        grant().connection(destination, options.number()).range(rkey, address, length);
    return grants.find(vector.destination(), wanted, packet.reference())
        ? packet.reference()
        : null;
  }

  private ReadGrant grant() {
    ReadGrant known = grant;
    if (known == null) {
      known = new ReadGrant();
      grant = known;
    }
    return known;
  }

  /**
   * Withdraws the payload references of requests that will not be acknowledged any more, and the
   * grants.
   */
  void withdraw() {
    if (reliable()) {
      sink.withdraw(options.number());
    }
  }

  /** Returns the number of packets that carry this many bytes. */
  int packets(long length) {
    return length == 0 ? 1 : (int) ((length + mtu - 1) / mtu);
  }

  /** Begins a packet to the connected peer. Only one packet is under construction at a time. */
  RocePacket start(PacketOpcode opcode, int psn) {
    return packet.start(opcode).destinationQueuePair(destination).psn(psn).sourcePort(flow);
  }

  /** Returns whether the sink has no room for a packet. */
  boolean isFull() {
    return sink.isFull();
  }

  /** Returns whether packets may have arrived that were not received yet. */
  boolean isBehind() {
    return sink.isBehind();
  }

  /** Sends the packet that was begun last to the connected peer. */
  void send() {
    sink.send(packet, vector);
  }

  /** Sends the packet that was begun last as a datagram. */
  void send(AddressVector to) {
    sink.send(packet, to);
  }
}
