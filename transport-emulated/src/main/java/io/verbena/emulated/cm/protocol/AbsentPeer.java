// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.wire.Refusals;
import io.verbena.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * Whether there is a peer to ask again. A host without an HCA refuses packets; what it says may be
 * late, or forged, so that it counts only when two messages that were sent again are refused. So an
 * HCA that opens meanwhile is found, too. Who is answered at once has nobody listen.
 */
final class AbsentPeer {
  private static final int REFUSED_MESSAGES = 2;

  private @Nullable Refusals refusals;
  private int counted;
  private int refused;

  /** For who is about to send a message again: whether there is nobody to send it to. */
  boolean isCertain(CmPort port, Gid peer) {
    Refusals heard = refusals;
    if (heard == null) {
      heard = port.refusals(peer);
      refusals = heard;
      counted = heard == null ? 0 : heard.count();
      return false;
    }
    int count = heard.count();
    if (count != counted) {
      counted = count;
      refused++;
    }
    return refused == REFUSED_MESSAGES;
  }

  /** Nothing is sent again. Idempotent. */
  void forget() {
    if (refusals != null) {
      refusals.close();
      refusals = null;
    }
  }
}
