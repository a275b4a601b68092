// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.wire.UnreachableReports;
import io.verbena.verbs.Gid;
import org.jspecify.annotations.Nullable;

/** The port of an agent: sends its messages, and names its addresses and limits. */
public interface CmPort {

  /** Returns the port's GID. */
  Gid gid();

  /** Returns the GUID of the HCA. */
  long guid();

  /** Returns the largest packet that it takes, as in {@code enum ibv_mtu}. */
  int mtu();

  /** Returns the same for a connection with a lock, whose packets are longer. */
  default int lockedMtu() {
    return mtu();
  }

  /** Sends a message, which may be lost. Does not throw. */
  void send(CmMessage message, Gid to);

  /**
   * Returns a counter of reports that the host of a port takes no messages; null if there are no
   * such reports.
   */
  default @Nullable UnreachableReports unreachableReports(Gid of) {
    return null;
  }

  /** Returns whether packets from an address come from the port with a GID. */
  boolean isFrom(Gid source, Gid gid);

  /** Returns an unpredictable number. */
  int nextSecret();
}
