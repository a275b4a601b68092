// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import io.verbena.emulated.roce.Frame;
import io.verbena.verbs.Gid;

/**
 * Connection management at queue pair 1 of a port. Called by the driver of the fabric, which has
 * {@linkplain PacketFabric#enter entered}.
 */
public interface PortManagement {

  /**
   * Takes a whole packet for {@link PacketPort#MANAGEMENT}, which is the port's again on return.
   */
  void receive(Frame frame);

  /** Called when a queue pair in RTR has had its first packet. */
  void established(int queuePairNumber);

  /** Called when the process of a peer is gone. */
  void departed(Gid peer);

  /** Returns whether no peer waits for an answer, so that the port may go. */
  boolean isQuiet();
}
