package io.verbena.emulated.wire;

import io.verbena.emulated.roce.Frame;

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
     * @param frame its bytes, not parsed yet; the wire's again on return
     */
    void receive(Frame frame);
  }

  /** One end. */
  interface Port {

    /** Its IPv4 address, the first byte in the high bits. */
    int address();

    /**
     * Sends a packet to the port with its destination address.
     *
     * @param frame sealed; the caller's again on return
     */
    void send(Frame frame);

    /** Unplugs it: what is on its way to it is dropped. Idempotent. */
    void close();
  }

  /** Plugs a port in, with an address of the wire's choice. */
  Port attach(Receiver receiver);
}
