// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import io.verbena.emulated.roce.Frame;
import io.verbena.verbs.Gid;

/**
 * What is at queue pair 1 of a port: connection management. Called by whoever drives the fabric,
 * who has {@linkplain PacketFabric#enter entered}.
 */
public interface PortManagement {

  /** A packet for {@link PacketPort#MANAGEMENT} came, whole; it is the port's again on return. */
  void receive(Frame frame);

  /** A queue pair in RTR has had its first packet. */
  void established(int queuePairNumber);

  /** The process of a peer is gone. */
  void departed(Gid peer);

  /** Whether no peer waits for an answer, so that the port may go. */
  boolean isQuiet();
}
