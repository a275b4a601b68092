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
 * The input of a channel: hands what its stream has received to the pipeline while the program
 * reads, and fires once that the peer has ended. On the event loop's thread only, but for {@link
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
   * Hands on what is there, or comes next.
   *
   * @param at null if the channel is not connected
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

  /** Hands what has come to the pipeline, if the program wants it. */
  void read(Stream from) {
    ReceiveBuffers receiveBuffers = from.receiveBuffers();
    if (reading || !channel.isActive()) {
      return;
    }
    if (shutdown) {
      tellEndOnce();
      return;
    }
    if (!readPending) {
      // The end is no byte: no read has to ask for it.
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
      // The pipeline catches what handlers throw: this is of the allocators, which have no memory
      // left, say. Bytes are missing, and it is no concern of the loop's other channels.
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
      tellEndOnce();
    }
  }

  /** Fires once that there is nothing left to read. */
  private void tellEndOnce() {
    readPending = false;
    if (!endWasTold && channel.isActive()) {
      endWasTold = true;
      channel.pipeline().fireUserEventTriggered(ChannelInputShutdownReadComplete.INSTANCE);
    }
  }

  /** Returns whether what has come is handed on now, or next. */
  boolean wantsBytes() {
    return !shutdown && (readPending || reading);
  }

  /** Wants nothing more, until {@link #beginRead}. */
  void stop() {
    readPending = false;
  }

  /** Returns whether nothing more is read. */
  boolean isShutdown() {
    return shutdown;
  }

  /** Ends it with the channel. */
  void close() {
    shutdown = true;
  }

  /**
   * Discards what is there, and what comes.
   *
   * @param at null if the channel is not connected
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
