// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.mapped.PayloadReference;
import io.verbena.emulated.roce.PacketFault;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.RocePacket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** A wire between two ends, which treats packets as its test decides. */
final class TestWire {
  static final long FLIGHT_NANOS = 1_000;

  /** A packet as it was sent. */
  record Packet(boolean fromA, PacketOpcode opcode, int psn, int syndrome, RocePacket frame) {
    @Override
    public String toString() {
      return (fromA ? "a>b " : "b>a ")
          + opcode
          + " psn "
          + psn
          + (syndrome < 0 ? "" : String.format(" %02x", syndrome))
          + " "
          + frame.payloadLength()
          + " B";
    }
  }

  /** Decides about the delivery of packets. */
  interface Fault {
    /**
     * Delivers a packet as often as this method calls {@code delivery}.
     *
     * @param index the number of the packet among all packets of the wire
     */
    void carry(int index, Packet packet, Delivery delivery);
  }

  /** Delivers a packet once more, after some time. */
  interface Delivery {
    void after(long nanos);
  }

  static final Fault NONE = (index, packet, delivery) -> delivery.after(FLIGHT_NANOS);

  final List<Packet> sent = new ArrayList<>();
  private final List<Lent> lent = new ArrayList<>();
  Fault fault = NONE;
  private final ManualTimeline time;

  TestWire(ManualTimeline time) {
    this.time = time;
  }

  /** Drops the packet with this index. */
  static Fault dropping(int dropped) {
    return (index, packet, delivery) -> {
      if (index != dropped) {
        delivery.after(FLIGHT_NANOS);
      }
    };
  }

  /** Payload in memory that a packet refers to. */
  private static final class Lent implements PayloadReference.Confirmation {
    private final int queuePair;
    private boolean withdrawn;

    Lent(int queuePair) {
      this.queuePair = queuePair;
    }

    @Override
    public boolean confirm() {
      return !withdrawn;
    }
  }

  /** Withdraws the payload that requests of a queue pair refer to. */
  void withdraw(int queuePair) {
    lent.stream()
        .filter(each -> each.queuePair == queuePair)
        .forEach(each -> each.withdrawn = true);
  }

  OpenSink to(End sender, End receiver, boolean fromA) {
    return (frame, to) -> {
      RocePacket copy = copy(frame);
      if (frame.isReferring()) {
        PayloadReference sent = frame.reference();
        Lent payload = new Lent(sent.queuePair());
        lent.add(payload);
        byte[] region = Objects.requireNonNull(sender.host.find(sent.slab())).bytes;
        copy.reference().found(ByteBuffer.wrap(region), sent.offset(), payload);
        copy.refer(frame.payloadLength());
      }
      Packet packet = new Packet(fromA, copy.opcode(), copy.psn(), syndrome(copy), copy);
      int index = sent.size();
      sent.add(packet);
      fault.carry(
          index,
          packet,
          nanos ->
              time.after(
                  nanos,
                  () -> {
                    if (copy.destinationQueuePair() == receiver.number) {
                      receiver.receive(copy);
                    }
                  }));
    };
  }

  private static int syndrome(RocePacket frame) {
    return switch (frame.opcode().kind()) {
      case ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE -> frame.syndrome();
      default -> -1;
    };
  }

  /** Returns a packet as it arrives, serialized and parsed. */
  static RocePacket copy(RocePacket frame) {
    frame.addresses(0x0a000001, 0x0a000002).seal();
    RocePacket copy = new RocePacket();
    PacketFault found = copy.copyFrom(frame).parse();
    if (found != PacketFault.NONE) {
      throw new IllegalStateException(frame + ": " + found);
    }
    return copy;
  }

  /** Returns the packets that one end sent. */
  List<Packet> sentBy(boolean a) {
    return sent.stream().filter(packet -> packet.fromA == a).toList();
  }
}
