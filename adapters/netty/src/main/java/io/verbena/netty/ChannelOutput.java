// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.FileRegion;
import io.netty.util.internal.StringUtil;
import org.jspecify.annotations.Nullable;

/**
 * The output of a channel. It posts flushed messages, and passes those that are left to the stream
 * when the output ends. On the event loop's thread only, except for {@link #isShutdown}.
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

  /** Whether the stream has taken over the flushed bytes that were not posted. */
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

  /** Posts flushed messages, as many as the peer and the send queue take now. */
  void flush(ChannelOutboundBuffer flushed, Flusher flusher, Stream to) throws Exception {
    queue = flushed;
    flusher.flush(flushed, to);
  }

  /** Returns whether the output is shut down. */
  boolean isShutdown() {
    return shutdown;
  }

  /** Ends the output after the flushed bytes. */
  void shutdown(Stream at) throws Exception {
    shutdown = true;
    boolean works = at.failure() == null;
    ByteBuf rest = null;
    try {
      rest = rest(at);
    } finally {
      // Also if a flushed buffer cannot be read: otherwise the peer would wait for the end.
      at.shutdownOutput(rest);
    }
    succeedPosted(at, works);
  }

  /** Shuts the output down as the channel closes. */
  void close() {
    shutdown = true;
  }

  /** Closes the stream after the flushed bytes. */
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

  /**
   * Returns the flushed bytes that are not posted, which the stream is to keep; later calls return
   * null.
   */
  private @Nullable ByteBuf rest(Stream at) throws Exception {
    ChannelOutboundBuffer flushed = queue;
    if (flushed == null || at.failure() != null || handedOver) {
      return null;
    }
    handedOver = true;
    return UnsentTail.copy(flushed, at.posted());
  }

  /**
   * Completes the writes whose bytes are posted or kept: they arrive although the channel ends. If
   * the connection had ended before, or is broken, completes only the writes whose bytes were sent.
   * Called last, because a listener may close the channel.
   *
   * @param worked whether the connection worked before the end of the output was posted; by now the
   *     peer may have read that end and have closed
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
