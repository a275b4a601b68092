// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelPromise;
import io.netty.channel.PendingWriteQueue;
import io.netty.util.ReferenceCountUtil;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Keeps the writes of a channel until it is connected. On the event loop's thread only. */
final class EarlyWrites {
  private final Channel channel;
  private @Nullable PendingWriteQueue kept;

  EarlyWrites(Channel channel) {
    this.channel = channel;
  }

  /** Keeps a write. */
  void keep(Object message, ChannelPromise promise) {
    PendingWriteQueue writes = kept;
    if (writes == null) {
      writes = new PendingWriteQueue(channel);
      kept = writes;
    }
    writes.add(message, promise);
  }

  /** Fails the kept writes. Writes that listeners make meanwhile are kept. */
  void fail(Supplier<? extends Exception> why) {
    PendingWriteQueue writes = kept;
    if (writes != null) {
      kept = null;
      writes.removeAndFailAll(why.get());
    }
  }

  /** Passes the kept writes to the channel that has connected. */
  void writeTo(Channel.Unsafe made) {
    PendingWriteQueue writes = kept;
    kept = null;
    while (writes != null && !writes.isEmpty()) {
      Object message = ReferenceCountUtil.retain(writes.current());
      made.write(message, writes.remove());
    }
  }
}
