// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.wire.UnreachableReports;
import io.verbena.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * The port of an agent: sends the agent's messages, and provides addresses and limits. Called by
 * the driver of the agent.
 */
public interface CmPort {

  /** Returns the port's GID. */
  Gid gid();

  /** Returns the GUID of the HCA. */
  long guid();

  /** Returns the code of the port's largest path MTU, as in {@code enum ibv_mtu}. */
  int mtu();

  /**
   * Returns the code of the largest path MTU of a connection with a lock, whose packets are longer.
   */
  default int lockedMtu() {
    return mtu();
  }

  /** Sends a message, which may be lost. Does not throw. */
  void send(CmMessage message, Gid to);

  /**
   * Returns a counter of reports that the host of a peer takes no messages; null if there are no
   * such reports.
   */
  default @Nullable UnreachableReports unreachableReports(Gid of) {
    return null;
  }

  /**
   * Returns whether packets with source {@code source} may come from the port with GID {@code gid}.
   */
  boolean isFrom(Gid source, Gid gid);

  /** Returns an unpredictable random number. */
  int nextSecret();
}
