// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import org.jspecify.annotations.Nullable;

/**
 * The input of a channel. It hands received bytes to the pipeline while a read is pending, and
 * fires the end of the peer's stream once. On the event loop's thread only, except for {@link
 * #isShutdown}.
 */
@SuppressWarnings("deprecation") // of RecvByteBufAllocator.Handle, which the pipeline still gives
final class ChannelInput {
  private final RdmaSocketChannel channel;
  private final RdmaSocketChannelConfig config;
  private volatile boolean shutdown;
  private boolean readPending;
  private boolean reading;
  private boolean endWasTold;

  ChannelInput(RdmaSocketChannel channel, RdmaSocketChannelConfig config) {
    this.channel = channel;
    this.config = config;
  }

  /**
   * Begins a read, which hands on the bytes that are there, or the next that arrive.
   *
   * @param at the stream; null if the channel is not connected
   */
  void beginRead(@Nullable Stream at) {
    readPending = true;
    if (at != null
        && channel.isActive()
        && !reading
        && (shutdown || at.receiveBuffers().isReadable())) {
      at.schedule();
    }
  }

  /** Hands received bytes to the pipeline, if a read is pending. */
  void read(Stream from) {
    StreamReceiveQueue receiveBuffers = from.receiveBuffers();
    if (reading || !channel.isActive()) {
      return;
    }
    if (shutdown) {
      fireEndOnce();
      return;
    }
    if (!readPending) {
      // The end of the stream needs no pending read.
      if (receiveBuffers.isAtEnd()) {
        end(channel.pipeline());
      }
      return;
    }
    ChannelPipeline pipeline = channel.pipeline();
    reading = true;
    try {
      RecvByteBufAllocator.Handle handle = channel.unsafe().recvBufAllocHandle();
      handle.reset(config);
      boolean atEnd = false;
      do {
        ByteBuf bytes = receiveBuffers.read(handle, config.getAllocator(), config.copiesReads());
        if (bytes == null) {
          atEnd = receiveBuffers.isAtEnd();
          handle.lastBytesRead(atEnd ? -1 : 0);
          break;
        }
        handle.incMessagesRead(1);
        readPending = false;
        pipeline.fireChannelRead(bytes);
      } while (handle.continueReading() && channel.isActive());
      if (atEnd) {
        readPending = false;
      }
      handle.readComplete();
      pipeline.fireChannelReadComplete();
      if (atEnd) {
        end(pipeline);
      }
    } catch (RuntimeException | Error e) {
      // The pipeline catches exceptions of handlers. This one is from an allocator without memory,
      // for example: bytes are missing, and only this channel is to close.
      pipeline.fireExceptionCaught(e);
      channel.closeQuietly();
    } finally {
      reading = false;
    }
    if (from.isReset() || (readPending && channel.isActive() && receiveBuffers.isReadable())) {
      from.schedule();
    }
  }

  private void end(ChannelPipeline pipeline) {
    if (!config.isAllowHalfClosure()) {
      channel.closeQuietly();
    } else if (!shutdown) {
      shutdown = true;
      pipeline.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
      fireEndOnce();
    }
  }

  /** Fires {@link ChannelInputShutdownReadComplete} once. */
  private void fireEndOnce() {
    readPending = false;
    if (!endWasTold && channel.isActive()) {
      endWasTold = true;
      channel.pipeline().fireUserEventTriggered(ChannelInputShutdownReadComplete.INSTANCE);
    }
  }

  /** Returns whether a read is pending or running. */
  boolean wantsBytes() {
    return !shutdown && (readPending || reading);
  }

  /** Cancels the pending read. */
  void stop() {
    readPending = false;
  }

  /** Returns whether the input is shut down. */
  boolean isShutdown() {
    return shutdown;
  }

  /** Shuts the input down as the channel closes. */
  void close() {
    shutdown = true;
  }

  /**
   * Shuts the input down: discards unread bytes, and those that arrive later.
   *
   * @param at the stream; null if the channel is not connected
   */
  void shutdown(@Nullable Stream at, ChannelPromise promise) {
    if (at == null || !channel.isActive()) {
      promise.tryFailure(
          channel.isOpen() ? new NotYetConnectedException() : new ClosedChannelException());
      return;
    }
    shutdown = true;
    at.discard();
    at.schedule();
    promise.trySuccess();
  }
}
