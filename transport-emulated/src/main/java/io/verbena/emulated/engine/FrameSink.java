// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.Frame;
import io.verbena.emulated.roce.ReadGrants;
import io.verbena.verbs.AddressVector;
import org.jspecify.annotations.Nullable;

/**
 * The sink of an engine's packets: a port that puts them on a wire. It has no default methods,
 * since an implementation that delegates would forget to delegate them.
 */
public interface FrameSink {

  /**
   * Returns a packet to build and send repeatedly, in memory that suits the wire. Other engines may
   * use the same one: a packet that is begun is sent before the call to the engine ends.
   */
  Frame frame();

  /**
   * Takes a packet. Its transport headers and payload are complete; the port fills in addresses,
   * partition key, invariant CRC and the UDP source port, whose field holds a number of the
   * packet's flow until then. The frame is the engine's again on return: a wire that keeps it
   * copies it. A packet that cannot be sent is dropped, as on any wire; this does not throw.
   *
   * @param to the destination: the peer of a connection, or the address of a datagram
   */
  void send(Frame frame, AddressVector to);

  /**
   * Returns whether there is no room for another packet at the moment, since the one sent last
   * still waits to leave. Further packets are dropped until there is room again; then the engine is
   * {@linkplain QueuePairEngine#run run}.
   */
  boolean isFull();

  /**
   * Returns the window that all queue pairs share towards one peer.
   *
   * @return null if there is no limit
   */
  @Nullable PeerWindow window(AddressVector to);

  /**
   * Returns whether the receiver may copy payload out of this machine's memory by itself, so that
   * packets of a reliable connection may {@linkplain Frame#refer refer} to it.
   */
  boolean takesReferences();

  /** Returns what requesters read without a packet; null if they do not. */
  @Nullable ReadGrants readGrants();

  /**
   * Takes back what the peers have not copied of the requests of a queue pair, and what it granted:
   * its program may change the memory from now on.
   */
  void withdraw(int queuePair);

  /** Returns whether packets may have come that were not taken yet. */
  boolean isBehind();
}
