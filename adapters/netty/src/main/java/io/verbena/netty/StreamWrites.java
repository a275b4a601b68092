// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaException;
import io.verbena.core.memory.Location;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Posts the bytes that a channel has flushed: in place, as inline data, or from a registered copy.
 * At the end of the output it posts the bytes that the stream keeps. On the event loop's thread
 * only.
 */
final class StreamWrites {
  /** The least bytes of a buffer that is sent in place, if its memory is registered. */
  private static final int LEAST_IN_PLACE = 2048;

  /** The least bytes for which it pays to register a buffer, or to look up its registration. */
  private static final int LEAST_LEASED = 16 << 10;

  private final RegisteredMemory memory;
  private final StreamSendQueue sendBuffers;
  private final StreamReceiveQueue receiveBuffers;
  private final int inlineLimit;
  private final Location location = new Location();

  /** The kept bytes, which are to be sent before the end, or null. */
  private @Nullable ByteBuf tail;

  /**
   * @param receiveBuffers have the credits that each message returns
   * @param inlineLimit the most bytes of inline data
   */
  StreamWrites(
      RegisteredMemory memory,
      StreamSendQueue sendBuffers,
      StreamReceiveQueue receiveBuffers,
      int inlineLimit) {
    this.memory = memory;
    this.sendBuffers = sendBuffers;
    this.receiveBuffers = receiveBuffers;
    this.inlineLimit = inlineLimit;
  }

  /** Returns the most bytes that the next message takes. */
  int piece() {
    return sendBuffers.piece();
  }

  /**
   * Sends bytes of a buffer in place, if the HCA can read them and that pays. They stay in the
   * channel's queue until they are sent.
   *
   * @return how many were posted, from {@code start} on; 0 if they have to be copied
   */
  int sendInPlace(ByteBuf buffer, int start, int count) {
    int length = Math.min(count, sendBuffers.piece());
    if (length < LEAST_IN_PLACE) {
      return 0;
    }
    int leaseFrom = count < LEAST_LEASED ? sendBuffers.piece() : 0;
    try {
      if (!memory.reachToSend(buffer, start, length, leaseFrom, location)) {
        return 0;
      }
    } catch (RdmaException e) {
      // The bytes are copied instead, into memory that is registered already.
      return 0;
    }
    // Retained only now, as it is not taken over if it cannot be posted.
    sendBuffers.send(location, length, buffer, length, receiveBuffers.takeOwed());
    buffer.retain();
    return length;
  }

  /**
   * Sends gathered bytes, from index 0.
   *
   * @param queued how many of them stay in the channel's queue until they are sent: all or none
   * @return whether the buffer was taken over; if not, its bytes are posted and it can be used
   *     again
   */
  boolean sendGathered(ByteBuf gathered, int queued) {
    int length = gathered.readableBytes();
    if (length <= inlineLimit) {
      ByteBuffer data = gathered.internalNioBuffer(0, length);
      sendBuffers.sendInline(data, queued, receiveBuffers.takeOwed());
      return false;
    }
    if (!memory.locate(gathered, 0, length, location)) {
      throw new IllegalStateException("gathered bytes: not in registered memory");
    }
    sendBuffers.send(location, length, gathered, queued, receiveBuffers.takeOwed());
    return true;
  }

  /**
   * Posts the requests that wait to be linked with others.
   *
   * @throws VerbsException if the HCA refuses one, which breaks the stream
   */
  void postLinked() {
    sendBuffers.postLinked();
  }

  /**
   * Keeps bytes that are to be sent before the end.
   *
   * @param rest taken over; null if there are none
   */
  void keep(@Nullable ByteBuf rest) {
    if (rest != null) {
      tail = rest;
    }
  }

  /** Returns whether bytes are kept that were not posted yet. */
  boolean hasTail() {
    return tail != null;
  }

  /**
   * Posts the kept bytes, as many as the peer takes now, and after the last of them the end.
   *
   * @throws IOException if there is no memory to send it from, and none will be released
   */
  void sendTail() throws IOException {
    try {
      sendTailAndEnd();
    } finally {
      postLinked();
    }
  }

  private void sendTailAndEnd() throws IOException {
    ByteBuf rest = tail;
    while (rest != null && sendBuffers.canSend()) {
      int length = Math.min(rest.readableBytes(), sendBuffers.piece());
      ByteBuf next;
      try {
        next = memory.allocator().directBuffer(length, length);
      } catch (RdmaException e) {
        if (!sendBuffers.holdsMemory()) {
          throw new IOException("no registered memory to send from", e);
        }
        return;
      }
      boolean taken = false;
      try {
        taken = sendGathered(next.writeBytes(rest, length), 0);
      } finally {
        if (!taken) {
          next.release();
        }
      }
      if (!rest.isReadable()) {
        rest.release();
        tail = null;
        rest = null;
      }
    }
    if (rest == null) {
      sendBuffers.end(receiveBuffers.takeOwed());
    }
  }

  /** Releases the kept bytes. Idempotent. */
  void release() {
    ByteBuf rest = tail;
    tail = null;
    if (rest != null) {
      rest.release();
    }
  }
}
