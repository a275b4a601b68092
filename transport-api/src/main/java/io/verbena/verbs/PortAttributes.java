// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.util.List;

/**
 * A device's port ({@code ibv_query_port(3)}).
 *
 * @param active whether the link is up
 * @param maxMtu the largest MTU of the port
 * @param activeMtu the MTU in use
 * @param gids the port's GIDs; an index into this list is a GID index
 * @param lid the port's LID on InfiniBand, 0 elsewhere
 * @param number the port's number on its HCA, from 1, for {@link QueuePairAttributes#port(int)}
 */
public record PortAttributes(
    boolean active, Mtu maxMtu, Mtu activeMtu, List<Gid> gids, int lid, int number) {
  public PortAttributes {
    gids = List.copyOf(gids);
  }

  /** Attributes of port 1. */
  public PortAttributes(boolean active, Mtu maxMtu, Mtu activeMtu, List<Gid> gids, int lid) {
    this(active, maxMtu, activeMtu, gids, lid, 1);
  }

  /** Attributes of port 1, without a LID. */
  public PortAttributes(boolean active, Mtu maxMtu, Mtu activeMtu, List<Gid> gids) {
    this(active, maxMtu, activeMtu, gids, 0);
  }
}
