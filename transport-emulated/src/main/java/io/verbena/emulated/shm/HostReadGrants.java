// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.emulated.hca.KeyEntry;
import io.verbena.emulated.mapped.PayloadReference;
import io.verbena.emulated.mapped.ReadGrant;
import io.verbena.emulated.mapped.ReadGrants;
import io.verbena.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * The read grants of a host, and of the peers to which it has links. The host grants a key when the
 * second READ under the key comes as a packet, if no READ under another key came to the same place
 * of the {@link GrantTable} in between. The new grant replaces the one at that place. Keys of
 * single messages are read only once, so they replace no grant.
 */
final class HostReadGrants implements ReadGrants {
  private final Gid host;
  private final GrantTable table;
  private final Links links;

  /**
   * The version, the queue pair and the key of each place's grant. Kept here because peers can
   * write to the table.
   */
  private final long[] versions = new long[GrantTable.ENTRIES];

  private final int[] queuePairs = new int[GrantTable.ENTRIES];
  private final int[] keys = new int[GrantTable.ENTRIES];

  /** The queue pair and the key of each place's last READ that the place's grant did not cover. */
  private final int[] readQueuePairs = new int[GrantTable.ENTRIES];

  private final int[] readKeys = new int[GrantTable.ENTRIES];
  private int granted;

  /** Finds the link to a peer. */
  interface Links {
    /** Returns the link to a host; null if there is none. */
    @Nullable ShmLink find(long high, long low);
  }

  HostReadGrants(Gid host, GrantTable table, Links links) {
    this.host = host;
    this.table = table;
    this.links = links;
  }

  @Override
  public void grant(Gid reader, ReadGrant what) {
    int place = GrantTable.place(what.queuePair(), what.key());
    if (holds(place) && queuePairs[place] == what.queuePair() && keys[place] == what.key()) {
      return;
    }
    if (readQueuePairs[place] != what.queuePair() || readKeys[place] != what.key()) {
      readQueuePairs[place] = what.queuePair();
      readKeys[place] = what.key();
      return;
    }
    revokeAt(place);
    queuePairs[place] = what.queuePair();
    keys[place] = what.key();
    granted++;
    table.grant(place, ++versions[place], reader.low(), what);
  }

  @Override
  public void revoke(int queuePair) {
    for (int i = 0; granted > 0 && i < queuePairs.length; i++) {
      if (queuePairs[i] == queuePair) {
        revokeAt(i);
      }
    }
  }

  /** Ends all grants under a key, whatever its tag. */
  void revokeKey(int dead) {
    int first = GrantTable.firstPlace(dead);
    for (int i = first; granted > 0 && i < first + GrantTable.PLACES; i++) {
      if ((keys[i] & KeyEntry.INDEX) == (dead & KeyEntry.INDEX)) {
        revokeAt(i);
      }
    }
  }

  private void revokeAt(int place) {
    if (holds(place)) {
      granted--;
      table.revoke(place, ++versions[place]);
    }
  }

  private boolean holds(int place) {
    return (versions[place] & 1) != 0;
  }

  @Override
  public boolean find(Gid peer, ReadGrant wanted, PayloadReference to) {
    ShmLink link = links.find(peer.high(), peer.low());
    return link != null && link.find(host.low(), wanted, to);
  }
}
