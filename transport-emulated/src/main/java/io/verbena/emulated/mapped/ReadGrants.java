// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.mapped;

import io.verbena.verbs.Gid;

/**
 * Memory that requesters read without a packet: memory of this host by its peers, and memory of the
 * peers by this host. A responder that has executed a READ grants further READs of the same
 * connection and key. It revokes the grant before the memory can be used for something else, and
 * never waits: after the copy, the requester checks that the grant is still valid, and if not sends
 * its READ as a packet. Used only by the caller of the engines.
 */
public interface ReadGrants {

  /** Responder: lets the peer of a connection read. A grant may be dropped at any time. */
  void grant(Gid reader, ReadGrant what);

  /** Responder: revokes all grants to the peer of a queue pair. */
  void revoke(int queuePair);

  /**
   * Requester: finds memory that a peer has granted.
   *
   * @param wanted the connection and the range; its place is not used
   * @param to receives the memory; its confirmation returns whether the grant is still valid
   * @return false if the peer has not granted the range
   */
  boolean find(Gid host, ReadGrant wanted, PayloadReference to);
}
