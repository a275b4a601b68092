// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.Frame;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;

/** What the state machines of one queue pair share: its state, its attributes, its way out. */
final class Link {
  private static final int FLOWS = 0xffff;

  final EngineOptions options;
  final Host host;
  QueuePairState state = QueuePairState.RESET;

  /** Bytes of payload per packet. */
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

  private final FrameSink sink;
  private final Frame frame;
  private int destination;

  /** The same at both ends, so that all packets of a connection have one. */
  private int flow;

  private AddressVector vector = AddressVector.to(new Gid(0, 0));

  /** Of what all that send to the same peer may have out. */
  final WindowShare share;

  Link(EngineOptions options, Host host, FrameSink sink) {
    this.options = options;
    this.host = host;
    this.sink = sink;
    frame = sink.frame();
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

  /** Whether an answer that is so late is still in time. */
  boolean toleratesDelay(long nanos) {
    return timeout == 0 || (RetryClock.UNIT_NANOS << timeout) >= nanos;
  }

  /** Whether peers may do this here; a bit of {@link Access}. */
  boolean allows(int right) {
    return (access & right) != 0;
  }

  /** Whether a READ is asked for anew behind this packet of it. */
  boolean endsReadPart(int packet) {
    return (packet + 1) % options.flow().readPart() == 0;
  }

  /** How many packets carry this many bytes. */
  int packets(long length) {
    return length == 0 ? 1 : (int) ((length + mtu - 1) / mtu);
  }

  /** Begins a packet to the connected peer. There is one at a time. */
  Frame start(PacketOpcode opcode, int psn) {
    return frame.start(opcode).destinationQueuePair(destination).psn(psn).sourcePort(flow);
  }

  /** Whether nothing can be sent at the moment. */
  boolean isFull() {
    return sink.isFull();
  }

  /** Whether packets may have come that nobody has looked at. */
  boolean isBehind() {
    return sink.isBehind();
  }

  /** Sends the packet begun last to the connected peer. */
  void send() {
    sink.send(frame, vector);
  }

  /** Sends the packet begun last as a datagram. */
  void send(AddressVector to) {
    sink.send(frame, to);
  }
}
