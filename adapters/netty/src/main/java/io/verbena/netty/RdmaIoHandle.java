package io.verbena.netty;

import io.netty.channel.IoHandle;

/** What an {@link RdmaIoHandler} takes: the channels of this package. */
interface RdmaIoHandle extends IoHandle {
  @Override
  void close();

  /** Closes without telling anybody. */
  void closeForcibly();
}
