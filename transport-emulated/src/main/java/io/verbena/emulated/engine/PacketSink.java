// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.mapped.ReadGrants;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.AddressVector;
import org.jspecify.annotations.Nullable;

/**
 * The sink of an engine's packets: a port that sends them on a wire. It has no default methods, so
 * that a delegating implementation cannot miss one. The engine calls it within the calls to the
 * engine.
 */
public interface PacketSink {

  /**
   * Returns a reusable packet in memory that suits the wire. Several engines may share the packet:
   * an engine sends a packet that it has begun before the call to the engine ends.
   */
  RocePacket packet();

  /**
   * Sends a packet. Its transport headers and payload are complete; the port fills in addresses,
   * partition key, invariant CRC and the UDP source port, whose field holds the packet's flow
   * number until then. The engine owns the packet again on return, so a wire that keeps the packet
   * copies it. A packet that cannot be sent is dropped, as on any wire. Does not throw.
   *
   * @param to the destination: the peer of a connection, or the address of a datagram
   */
  void send(RocePacket packet, AddressVector to);

  /**
   * Returns whether there is no room for another packet, since the last packet still waits to
   * leave. Further packets are dropped until there is room; then the engine is {@linkplain
   * QueuePairEngine#run run}.
   */
  boolean isFull();

  /**
   * Returns the window that all queue pairs with one peer share.
   *
   * @return null if there is no limit
   */
  @Nullable PeerWindow window(AddressVector to);

  /**
   * Returns whether the receiver can copy payload out of the sender's memory, so that packets of a
   * reliable connection may {@linkplain RocePacket#refer refer} to their payload.
   */
  boolean takesReferences();

  /**
   * Returns the grants by which requesters read a peer's memory without a packet; null if this wire
   * has no such grants.
   */
  @Nullable ReadGrants readGrants();

  /**
   * Withdraws the payload references of a queue pair's requests that the peers have not copied yet,
   * and the queue pair's grants. From now on the program may change the memory.
   */
  void withdraw(int queuePair);

  /** Returns whether packets may have arrived that were not received yet. */
  boolean isBehind();
}
