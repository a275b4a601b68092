// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.IoHandle;

/** A channel of this package, as an {@link RdmaIoHandler} uses it. */
interface RdmaIoHandle extends IoHandle {
  @Override
  void close();

  /** Closes without telling anybody. */
  void closeForcibly();
}
