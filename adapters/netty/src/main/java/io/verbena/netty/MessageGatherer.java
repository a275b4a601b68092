// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundBuffer.MessageProcessor;
import io.netty.channel.FileRegion;
import io.verbena.core.memory.RegisteredMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import org.jspecify.annotations.Nullable;

/**
 * Copies small buffers, heap buffers and files into one registered buffer, for one message. One for
 * each loop; on its thread only.
 */
final class MessageGatherer implements MessageProcessor, WritableByteChannel {
  private final RegisteredMemory memory;
  private @Nullable ByteBuf buffer;
  private long skip;
  private int room;

  MessageGatherer(RegisteredMemory memory) {
    this.memory = memory;
  }

  /**
   * Copies messages of a channel's queue, up to the first that is no buffer. They stay in the
   * queue.
   *
   * @param posted how many bytes at the head of the queue are posted already
   * @param most the most bytes of a message
   * @return the bytes, from index 0; the buffer belongs to this gatherer
   */
  ByteBuf gather(ChannelOutboundBuffer queue, long posted, int most) throws Exception {
    ByteBuf into = begin(most);
    skip = posted;
    queue.forEachFlushedMessage(this);
    return into;
  }

  /** Copies bytes of a file from its progress on. */
  ByteBuf gather(FileRegion file, int most) throws IOException {
    ByteBuf into = begin(most);
    file.transferTo(this, file.transferred());
    return into;
  }

  private ByteBuf begin(int most) {
    ByteBuf into = buffer;
    if (into == null || into.capacity() < most) {
      release();
      into = memory.allocator().directBuffer(most, most);
      buffer = into;
    }
    into.clear();
    room = most;
    return into;
  }

  @Override
  public boolean processMessage(Object message) {
    ByteBuf into = buffer;
    if (into == null || !(message instanceof ByteBuf from)) {
      return false;
    }
    int left = from.readableBytes();
    if (left <= skip) {
      skip -= left;
      return true;
    }
    int offset = (int) skip;
    skip = 0;
    int length = Math.min(left - offset, room);
    into.writeBytes(from, from.readerIndex() + offset, length);
    room -= length;
    return room > 0;
  }

  @Override
  public int write(ByteBuffer source) {
    ByteBuf into = buffer;
    int length = Math.min(source.remaining(), room);
    if (into == null || length == 0) {
      return 0;
    }
    int limit = source.limit();
    source.limit(source.position() + length);
    into.writeBytes(source);
    source.limit(limit);
    room -= length;
    return length;
  }

  /** Gives the buffer up, because it was posted. */
  void handedOver() {
    buffer = null;
  }

  @Override
  public boolean isOpen() {
    return true;
  }

  @Override
  public void close() {
    // Nothing to close: the gatherer is used again.
  }

  void release() {
    ByteBuf last = buffer;
    buffer = null;
    if (last != null) {
      last.release();
    }
  }
}
