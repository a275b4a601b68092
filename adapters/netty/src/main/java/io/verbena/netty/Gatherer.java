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
 * Copies small buffers, heap buffers and files into one registered buffer, so that one message
 * takes them. One for a loop; on its thread only.
 */
final class Gatherer implements MessageProcessor, WritableByteChannel {
  private final RegisteredMemory memory;
  private @Nullable ByteBuf buffer;
  private long skip;
  private int room;

  Gatherer(RegisteredMemory memory) {
    this.memory = memory;
  }

  /**
   * Copies from the messages at the head of a channel's queue, which stay there, up to the first
   * that is no buffer.
   *
   * @param posted bytes of the queue that are posted already
   * @param most bytes that go into one message
   * @return the bytes, from index 0; the buffer stays this gatherer's
   */
  ByteBuf gather(ChannelOutboundBuffer queue, long posted, int most) throws Exception {
    ByteBuf into = begin(most);
    skip = posted;
    queue.forEachFlushedMessage(this);
    return into;
  }

  /** Copies from a file. */
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

  /** Gives the buffer up, because the HCA has it now. */
  void handedOver() {
    buffer = null;
  }

  @Override
  public boolean isOpen() {
    return true;
  }

  @Override
  public void close() {
    // A file that was copied leaves the gatherer as it is.
  }

  void release() {
    ByteBuf last = buffer;
    buffer = null;
    if (last != null) {
      last.release();
    }
  }
}
