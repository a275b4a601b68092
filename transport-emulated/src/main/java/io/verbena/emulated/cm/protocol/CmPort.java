// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.wire.Refusals;
import io.verbena.verbs.Gid;
import org.jspecify.annotations.Nullable;

/** What an agent needs of the port that it works for. */
public interface CmPort {

  /** The port's GID. */
  Gid gid();

  /** The number of the HCA. */
  long guid();

  /** The largest packet that it takes, as in {@code enum ibv_mtu}. */
  int mtu();

  /** The same of a connection with a lock, whose packets are longer. */
  default int lockedMtu() {
    return mtu();
  }

  /** Sends a message, which may be lost. Does not throw. */
  void send(CmMessage message, Gid to);

  /** Hears that the host of a port takes no messages; null if that cannot be heard. */
  default @Nullable Refusals refusals(Gid of) {
    return null;
  }

  /** Whether packets from an address come from the port with a GID. */
  boolean isFrom(Gid source, Gid gid);

  /** A number that nobody guesses. */
  int nextSecret();
}
