// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A named block in memory.
 *
 * @param info its name, length and digest
 * @param content its bytes, from reader to writer index; the indices never change; the block owns
 *     one reference
 */
record Block(BlockInfo info, ByteBuf content) {

  /**
   * Reads a whole file into one direct buffer.
   *
   * @param allocator decides whether the buffer is registered memory
   * @throws IOException also if the file has 2 GiB or more
   */
  static Block load(Path file, ByteBufAllocator allocator) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      long length = channel.size();
      if (length > Integer.MAX_VALUE - 64) {
        throw new IOException(
            file + ": " + length + " bytes (expected: at most " + (Integer.MAX_VALUE - 64) + ")");
      }
      ByteBuf content = allocator.directBuffer((int) length, (int) length);
      try {
        fill(content, channel, file);
        String name = String.valueOf(file.getFileName());
        return new Block(new BlockInfo(name, length, Sha256.of(content)), content);
      } catch (IOException | RuntimeException e) {
        content.release();
        throw e;
      }
    }
  }

  private static void fill(ByteBuf content, FileChannel channel, Path file) throws IOException {
    while (content.isWritable()) {
      int read = content.writeBytes(channel, content.writerIndex(), content.writableBytes());
      if (read < 0) {
        throw new EOFException(file + " became shorter while it was read");
      }
    }
  }

  String name() {
    return info.name();
  }

  /** Returns the same bytes with a separate reference. */
  Block share() {
    return new Block(info, content.retainedDuplicate());
  }

  /** Returns its number of messages of this length. */
  int messages(int messageLength) {
    return (int) ((info.length() + messageLength - 1) / messageLength);
  }

  /** Returns one of those messages, with a separate reference. */
  ByteBuf message(int index, int messageLength) {
    return piece(index, messageLength).retain();
  }

  /** Returns one of those messages, without a separate reference. */
  ByteBuf piece(int index, int messageLength) {
    int offset = index * messageLength;
    return content.slice(offset, Math.min(messageLength, content.writerIndex() - offset));
  }
}
