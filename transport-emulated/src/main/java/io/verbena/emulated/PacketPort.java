package io.verbena.emulated;

import io.verbena.emulated.engine.FrameSink;
import io.verbena.emulated.roce.Frame;
import io.verbena.emulated.roce.FrameFault;
import io.verbena.emulated.wire.Wire;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * A device's port on a wire: addresses and seals what its queue pairs send, and lets nothing in but
 * what is whole and meant for one of them. What it does not let in it drops without a word, as rxe
 * does: damaged packets, other partitions, unknown queue pairs, and senders that a queue pair is
 * not connected to.
 */
final class PacketPort implements FrameSink, Wire.Receiver {
  private static final long IPV4_MAPPED = 0xffff_0000_0000L;
  private static final int DEFAULT_PARTITION = 0xffff;
  private static final int SOURCE_PORTS = 0x3fff;

  private final PacketFabric fabric;
  private final Wire.Port wirePort;
  private @Nullable EmulatedDevice device;
  private long dropped;

  PacketPort(PacketFabric fabric, Wire wire) {
    this.fabric = fabric;
    wirePort = wire.attach(this);
  }

  /** Its IPv4 address as a GID. */
  Gid gid() {
    return new Gid(0, IPV4_MAPPED | (wirePort.address() & 0xffff_ffffL));
  }

  void device(EmulatedDevice owner) {
    device = owner;
  }

  /** How many packets it has dropped. */
  long dropped() {
    return dropped;
  }

  Wire.Port wirePort() {
    return wirePort;
  }

  @Override
  public void send(Frame frame, AddressVector to) {
    Gid gid = to.destination();
    if (gid.high() != 0 || gid.low() >>> Integer.SIZE != IPV4_MAPPED >>> Integer.SIZE) {
      // No way to it from here.
      dropped++;
      return;
    }
    frame
        .addresses(wirePort.address(), (int) gid.low())
        .sourcePort(Frame.DEFAULT_SOURCE_PORT | (frame.destinationQueuePair() & SOURCE_PORTS))
        .seal();
    wirePort.send(frame);
  }

  @Override
  public void receive(Frame frame) {
    PacketQueuePair pair = addressee(frame);
    if (pair == null) {
      dropped++;
      return;
    }
    pair.receive(frame);
    fabric.settle();
  }

  private @Nullable PacketQueuePair addressee(Frame frame) {
    EmulatedDevice owner = device;
    if (owner == null
        || frame.parse() != FrameFault.NONE
        || frame.destinationAddress() != wirePort.address()
        || frame.partitionKey() != DEFAULT_PARTITION) {
      return null;
    }
    PacketQueuePair pair = (PacketQueuePair) owner.queuePair(frame.destinationQueuePair());
    return pair != null && pair.listensTo(frame.sourceAddress()) ? pair : null;
  }

  void close() {
    wirePort.close();
  }
}
