// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.FileRegion;
import io.netty.util.internal.StringUtil;
import org.jspecify.annotations.Nullable;

/**
 * The output of a channel: the queue of what was flushed, of which the stream keeps what is left as
 * the output ends. On the event loop's thread only, but for {@link #isShutdown}.
 */
final class ChannelOutput {
  private static final String EXPECTED =
      " (expected: "
          + StringUtil.simpleClassName(ByteBuf.class)
          + ", "
          + StringUtil.simpleClassName(FileRegion.class)
          + ")";

  private @Nullable ChannelOutboundBuffer queue;
  private volatile boolean shutdown;

  /** Whether the stream has what was flushed. */
  private boolean handedOver;

  /**
   * Returns the message, if a channel can write it.
   *
   * @throws UnsupportedOperationException if it is neither a buffer nor a file
   */
  static Object check(Object message) {
    if (message instanceof ByteBuf || message instanceof FileRegion) {
      return message;
    }
    throw new UnsupportedOperationException(
        "unsupported message type: " + StringUtil.simpleClassName(message) + EXPECTED);
  }

  /** Posts what was flushed, as far as the peer takes it now. */
  void flush(ChannelOutboundBuffer flushed, Flusher flusher, Stream to) throws Exception {
    queue = flushed;
    flusher.flush(flushed, to);
  }

  /** Returns whether nothing more is written. */
  boolean isShutdown() {
    return shutdown;
  }

  /** Ends it behind what was flushed. */
  void shutdown(Stream at) throws Exception {
    shutdown = true;
    boolean works = at.failure() == null;
    ByteBuf rest = null;
    try {
      rest = rest(at);
    } finally {
      // Even where a flushed buffer cannot be read: the peer would wait for the end.
      at.shutdownOutput(rest);
    }
    succeedPosted(at, works);
  }

  /** Ends it with the channel. */
  void close() {
    shutdown = true;
  }

  /** Closes the stream behind what was flushed. */
  void closeBehind(Stream at) throws Exception {
    boolean works = at.failure() == null;
    ByteBuf rest = null;
    try {
      rest = rest(at);
    } finally {
      at.close(rest);
    }
    succeedPosted(at, works);
  }

  /** Returns what is flushed and not posted, which the stream is to keep: once. */
  private @Nullable ByteBuf rest(Stream at) throws Exception {
    ChannelOutboundBuffer flushed = queue;
    if (flushed == null || at.failure() != null || handedOver) {
      return null;
    }
    handedOver = true;
    return Tail.copy(flushed, at.posted());
  }

  /**
   * Completes the writes of what is posted, or kept, which arrives though the channel ends; of a
   * connection that had ended before, or has broken, those of what was sent. Called last, as a
   * listener may close the channel.
   *
   * @param worked whether the connection did before its end was posted: the peer may have read that
   *     end, and all before it, and have closed by now
   */
  private void succeedPosted(Stream at, boolean worked) {
    ChannelOutboundBuffer flushed = queue;
    if (flushed == null) {
      return;
    }
    if (worked && !at.hasBroken()) {
      at.posted().removeAll(flushed);
    } else {
      at.posted().removeSent(flushed);
    }
  }
}
