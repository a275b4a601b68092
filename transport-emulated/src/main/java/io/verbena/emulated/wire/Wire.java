// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.emulated.roce.Frame;
import io.verbena.emulated.roce.FrameFault;
import io.verbena.verbs.Gid;

/**
 * Carries packets between ports. Called by the driver of the engines only; nothing of it throws for
 * what is in a packet: what cannot be delivered is dropped, as on any network.
 */
public interface Wire {

  /** Takes what comes for a port. Never called within {@link Port#send}. */
  interface Receiver {

    /**
     * A packet came.
     *
     * @param frame its bytes, parsed; the wire's again on return
     * @param fault what is wrong with it, or {@link FrameFault#NONE}
     */
    void receive(Frame frame, FrameFault fault);
  }

  /** What became of a packet that was to be sent. */
  enum Outcome {
    /** It is on its way. */
    SENT,
    /** There is no room for it now, nor for another one; there will be. */
    FULL,
    /** It is dropped, since this end cannot send it. */
    DROPPED
  }

  /** One end. */
  interface Port {

    /** Its address and its UDP port; see {@link UdpGid}. */
    Gid gid();

    /** A packet to build and send again and again, in memory that suits this wire. */
    default Frame frame() {
      return new Frame();
    }

    /**
     * The UDP source port of the packets of one flow. Packets of a flow take the same way through a
     * network, so each queue pair is a flow.
     *
     * @param flow any number
     */
    int sourcePort(int flow);

    /**
     * Sends a packet to the port with its destination address.
     *
     * @param frame sealed, with a {@link #sourcePort} of this port; the caller's again on return
     * @param udpPort where the receiver takes packets; {@link Frame#UDP_PORT} but for HCAs in
     *     software that share an address
     * @return what became of it; if {@link Outcome#FULL}, it is the caller's to send it again
     */
    Outcome send(Frame frame, int udpPort);

    /** Whether packets may have come that the receiver has not been handed yet. */
    default boolean isBehind() {
      return false;
    }

    /** Unplugs it: what is on its way to it is dropped. Idempotent. */
    void close();
  }

  /** Plugs a port in, with an address of the wire's choice. */
  Port attach(Receiver receiver);
}
