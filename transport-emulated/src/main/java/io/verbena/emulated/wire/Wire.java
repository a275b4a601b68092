// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.emulated.roce.Frame;
import io.verbena.emulated.roce.FrameFault;
import io.verbena.emulated.roce.ReadGrants;
import io.verbena.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * Carries packets between ports. Called by the driver of the engines only; no method throws because
 * of a packet's content: packets that cannot be delivered are dropped, as on any network.
 */
public interface Wire {

  /** Takes the packets that come for a port. Never called within {@link Port#send}. */
  interface Receiver {

    /**
     * Takes a packet.
     *
     * @param frame its bytes, parsed; the wire's again on return
     * @param fault the fault found, or {@link FrameFault#NONE}
     */
    void receive(Frame frame, FrameFault fault);
  }

  /** The outcome of sending a packet. */
  enum Outcome {
    /** It is on its way. */
    SENT,
    /** There is no room for it now, nor for another one; there will be. */
    FULL,
    /** It is dropped, since this end cannot send it. */
    DROPPED
  }

  /** One end of the wire. */
  interface Port {

    /** Returns its address and its UDP port; see {@link UdpGid}. */
    Gid gid();

    /** Creates a packet to build and send repeatedly, in memory that suits this wire. */
    default Frame frame() {
      return new Frame();
    }

    /**
     * Returns the UDP source port of the packets of one flow. Packets of a flow take the same route
     * through a network, so each queue pair is a flow.
     *
     * @param flow any number
     */
    int sourcePort(int flow);

    /**
     * Sends a packet to the port with its destination address.
     *
     * @param frame sealed, with a {@link #sourcePort} of this port; the caller's again on return
     * @param udpPort the UDP port on which the receiver takes packets; {@link Frame#UDP_PORT}
     *     except for software HCAs that share an address
     * @return the outcome; if {@link Outcome#FULL}, the caller has to send the packet again
     */
    Outcome send(Frame frame, int udpPort);

    /** Notes that the packet for which there was no room will not be sent again. */
    default void dropped() {}

    /**
     * Returns whether packets may {@linkplain Frame#refer refer} to their payload. By default they
     * may not.
     */
    default boolean takesReferences() {
      return false;
    }

    /**
     * Returns what requesters read without a packet; null if they do not on this wire, which is the
     * default.
     */
    default @Nullable ReadGrants readGrants() {
      return null;
    }

    /**
     * Takes back what receivers have not copied of the requests of a queue pair, and its
     * {@linkplain #readGrants grants}.
     */
    default void withdraw(int queuePair) {}

    /**
     * Takes back what receivers have not copied of the memory under a key that is dead, with all
     * its tags, and its {@linkplain #readGrants grants}.
     */
    default void withdrawKey(int dead) {}

    /** Returns whether packets may have come that the receiver has not been given yet. */
    default boolean isBehind() {
      return false;
    }

    /** Unplugs it: packets on their way to it are dropped. Idempotent. */
    void close();
  }

  /** Plugs a port in, with an address that the wire chooses. */
  Port attach(Receiver receiver);
}
