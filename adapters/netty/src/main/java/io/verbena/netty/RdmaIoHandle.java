// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.IoHandle;

/** A channel of this package, as its {@link RdmaIoHandler} sees it. */
interface RdmaIoHandle extends IoHandle {
  @Override
  void close();

  /** Closes the channel without events in its pipeline. */
  void closeForcibly();
}
