// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.Gid;

/**
 * Connection management at queue pair 1 of a port. The driver of the fabric calls it, after it has
 * {@linkplain PacketFabric#enter entered}.
 */
public interface PortManagement {

  /**
   * Takes an intact packet for {@link PacketPort#MANAGEMENT}. The port reuses the packet after this
   * call.
   */
  void receive(RocePacket packet);

  /** Called when a queue pair in RTR has received its first packet. */
  void established(int queuePairNumber);

  /** Called when the process of a peer is gone. */
  void departed(Gid peer);

  /** Returns whether no peer waits for an answer, so that the port may be closed. */
  boolean isQuiet();
}
