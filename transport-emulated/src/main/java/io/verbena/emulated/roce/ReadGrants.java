// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import io.verbena.verbs.Gid;

/**
 * The memory that requesters read by themselves, without a packet: of this host by its peers, and
 * of the peers by this host. A responder that has executed a READ grants the next ones of the same
 * connection and key; it revokes that before the memory can be used for something else, and never
 * waits: a requester that has copied asks whether the grant still holds, and sends its READ as a
 * packet if it does not. For the caller of the engines.
 */
public interface ReadGrants {

  /** Responder: lets the peer of a connection read. A grant may be forgotten at any time. */
  void grant(Gid reader, ReadGrant what);

  /** Responder: ends all grants to the peer of a queue pair. */
  void revoke(int queuePair);

  /**
   * Requester: finds memory that a peer lets it read.
   *
   * @param wanted the connection, and the range, whose place it does not know
   * @param to gets the memory; its confirmation tells whether the grant still holds
   * @return false if the peer has not granted that
   */
  boolean find(Gid host, ReadGrant wanted, PayloadReference to);
}
