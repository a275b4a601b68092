// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.Frame;
import io.verbena.verbs.AddressVector;
import org.jspecify.annotations.Nullable;

/**
 * The way out of an engine: a port that puts packets on a wire. Without defaults, which one that
 * passes all on to another would forget.
 */
public interface FrameSink {

  /**
   * A packet to build and send again and again, in memory that suits the wire. Others may have the
   * same one: what is begun is sent before the call to the engine ends.
   */
  Frame frame();

  /**
   * Takes a packet. Its transport headers and payload are complete; addresses, partition key and
   * invariant CRC are the port's to fill in, and the UDP source port, in which stands a number of
   * the flow that the packet belongs to. The frame is the engine's again on return: a wire that
   * keeps it copies it. A packet that cannot be sent is dropped, as any wire may do; this does not
   * throw.
   *
   * @param to where it goes: the peer of a connection, or the address of a datagram
   */
  void send(Frame frame, AddressVector to);

  /**
   * Whether there is no room for another packet at the moment, since the one sent last still waits
   * to leave. Others are dropped until there is room again; then the engine is {@linkplain
   * QueuePairEngine#run run}.
   */
  boolean isFull();

  /**
   * What all queue pairs may have out together to one peer.
   *
   * @return null if that is not limited
   */
  @Nullable PeerWindow window(AddressVector to);

  /** Whether packets may have come there that nobody has taken yet. */
  boolean isBehind();
}
