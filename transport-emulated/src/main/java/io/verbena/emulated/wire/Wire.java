// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.emulated.mapped.ReadGrants;
import io.verbena.emulated.roce.PacketFault;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * Carries packets between ports. Called only by the driver of the engines. No method throws because
 * of a packet's content: packets that cannot be delivered are dropped, as on any network.
 */
public interface Wire {

  /** Receives the packets of a port. Never called within {@link Port#send}. */
  interface Receiver {

    /**
     * Receives a packet.
     *
     * @param packet the parsed packet; the wire owns it again on return
     * @param fault the result of parsing; the fields are valid only with {@link PacketFault#NONE}
     */
    void receive(RocePacket packet, PacketFault fault);
  }

  /** The outcome of sending a packet. */
  enum Outcome {
    /** The packet is on its way. */
    SENT,
    /** There is no room for this or any other packet now; there will be later. */
    FULL,
    /** The packet is dropped, since this end cannot send it. */
    DROPPED
  }

  /** One end of the wire. */
  interface Port {

    /**
     * Returns the GID of the port, which holds its address and its UDP port; see {@link UdpGid}.
     */
    Gid gid();

    /** Creates a reusable packet in memory that suits this wire. */
    default RocePacket packet() {
      return new RocePacket();
    }

    /**
     * Returns the UDP source port of the packets of a flow. Packets of a flow take the same route
     * through a network, so each queue pair is a flow.
     *
     * @param flow any number
     */
    int sourcePort(int flow);

    /**
     * Sends a packet to the port at its destination address.
     *
     * @param packet the packet, sealed, with a {@link #sourcePort} of this port; the caller owns it
     *     again on return
     * @param udpPort the UDP port of the receiver; {@link RocePacket#UDP_PORT} except for software
     *     HCAs that share an address
     * @return the outcome; with {@link Outcome#FULL}, the caller sends the packet again later or
     *     calls {@link #dropped}
     */
    Outcome send(RocePacket packet, int udpPort);

    /** Notes that the packet that found no room will not be sent again. */
    default void dropped() {}

    /**
     * Returns whether packets may {@linkplain RocePacket#refer refer} to their payload; false by
     * default.
     */
    default boolean takesReferences() {
      return false;
    }

    /**
     * Returns the grants by which requesters read a peer's memory without a packet; null, the
     * default, if this wire has no such grants.
     */
    default @Nullable ReadGrants readGrants() {
      return null;
    }

    /**
     * Withdraws the payload references of a queue pair's requests that receivers have not copied
     * yet, and its {@linkplain #readGrants grants}.
     */
    default void withdraw(int queuePair) {}

    /**
     * Withdraws the payload references and {@linkplain #readGrants grants} of a dead key, with any
     * tag, that receivers have not copied yet.
     */
    default void withdrawKey(int dead) {}

    /**
     * Returns whether packets may have arrived that were not passed to the receiver yet; false by
     * default.
     */
    default boolean isBehind() {
      return false;
    }

    /** Detaches the port; packets on their way to it are dropped. Idempotent. */
    void close();
  }

  /** Attaches a port with an address that the wire chooses. */
  Port attach(Receiver receiver);
}
