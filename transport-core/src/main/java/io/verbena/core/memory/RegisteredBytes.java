// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.netty.buffer.AbstractReferenceCountedByteBuf;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes a block of registered memory, for a buffer and for its slices. Each access goes
 * through the buffer to its block, which changes when the buffer grows. Uses no native address.
 */
abstract sealed class RegisteredBytes extends AbstractReferenceCountedByteBuf
    permits RegisteredByteBuf, RegisteredSlice {
  private static final int CHUNK = 8192;

  /** The buffer that has the block: this one, or the one that this slice belongs to. */
  final RegisteredByteBuf root;

  /** The offset of these bytes in the buffer. */
  int offset;

  int capacity;

  /**
   * @param root the buffer of a slice; null for a buffer itself
   */
  RegisteredBytes(int maxCapacity, @Nullable RegisteredByteBuf root) {
    super(maxCapacity);
    this.root = root == null ? (RegisteredByteBuf) this : root;
  }

  /** Resets the state: one reference, indices and marks at 0. */
  final void reset(int newOffset, int newCapacity, int newMaxCapacity) {
    offset = newOffset;
    capacity = newCapacity;
    maxCapacity(newMaxCapacity);
    setIndex(0, 0);
    markReaderIndex();
    markWriterIndex();
    resetRefCnt();
  }

  /** Returns the position of index 0 in the memory of the block. */
  private int start(Block block) {
    return block.base + offset;
  }

  @Override
  public final int capacity() {
    return capacity;
  }

  @Override
  public final ByteBufAllocator alloc() {
    return root.allocator();
  }

  @Override
  @SuppressWarnings("deprecation")
  public final ByteOrder order() {
    return ByteOrder.BIG_ENDIAN;
  }

  @Override
  public final boolean isDirect() {
    return true;
  }

  @Override
  public final boolean isContiguous() {
    return true;
  }

  @Override
  public final boolean hasArray() {
    return false;
  }

  @Override
  public final byte[] array() {
    throw new UnsupportedOperationException("direct buffer");
  }

  @Override
  public final int arrayOffset() {
    throw new UnsupportedOperationException("direct buffer");
  }

  @Override
  public final boolean hasMemoryAddress() {
    return false;
  }

  @Override
  public final long memoryAddress() {
    throw new UnsupportedOperationException("no native address");
  }

  @Override
  protected final byte _getByte(int index) {
    Block block = root.block();
    return block.memory.get(start(block) + index);
  }

  @Override
  protected final short _getShort(int index) {
    Block block = root.block();
    return block.memory.getShort(start(block) + index);
  }

  @Override
  protected final short _getShortLE(int index) {
    return Short.reverseBytes(_getShort(index));
  }

  @Override
  protected final int _getUnsignedMedium(int index) {
    return (_getByte(index) & 0xff) << 16 | (_getShort(index + 1) & 0xffff);
  }

  @Override
  protected final int _getUnsignedMediumLE(int index) {
    return (_getByte(index + 2) & 0xff) << 16 | (_getShortLE(index) & 0xffff);
  }

  @Override
  protected final int _getInt(int index) {
    Block block = root.block();
    return block.memory.getInt(start(block) + index);
  }

  @Override
  protected final int _getIntLE(int index) {
    return Integer.reverseBytes(_getInt(index));
  }

  @Override
  protected final long _getLong(int index) {
    Block block = root.block();
    return block.memory.getLong(start(block) + index);
  }

  @Override
  protected final long _getLongLE(int index) {
    return Long.reverseBytes(_getLong(index));
  }

  @Override
  protected final void _setByte(int index, int value) {
    Block block = root.block();
    block.memory.put(start(block) + index, (byte) value);
  }

  @Override
  protected final void _setShort(int index, int value) {
    Block block = root.block();
    block.memory.putShort(start(block) + index, (short) value);
  }

  @Override
  protected final void _setShortLE(int index, int value) {
    _setShort(index, Short.reverseBytes((short) value));
  }

  @Override
  protected final void _setMedium(int index, int value) {
    _setByte(index, value >>> 16);
    _setShort(index + 1, value);
  }

  @Override
  protected final void _setMediumLE(int index, int value) {
    _setShortLE(index, value);
    _setByte(index + 2, value >>> 16);
  }

  @Override
  protected final void _setInt(int index, int value) {
    Block block = root.block();
    block.memory.putInt(start(block) + index, value);
  }

  @Override
  protected final void _setIntLE(int index, int value) {
    _setInt(index, Integer.reverseBytes(value));
  }

  @Override
  protected final void _setLong(int index, long value) {
    Block block = root.block();
    block.memory.putLong(start(block) + index, value);
  }

  @Override
  protected final void _setLongLE(int index, long value) {
    _setLong(index, Long.reverseBytes(value));
  }

  @Override
  public final ByteBuf getBytes(int index, ByteBuf to, int toIndex, int length) {
    checkDstIndex(index, length, toIndex, to.capacity());
    if (to instanceof RegisteredBytes registered) {
      registered.copyFrom(toIndex, this, index, length);
    } else if (to.hasArray()) {
      getBytes(index, to.array(), to.arrayOffset() + toIndex, length);
    } else {
      to.setBytes(toIndex, nioBuffer(index, length));
    }
    return this;
  }

  @Override
  public final ByteBuf getBytes(int index, byte[] to, int toIndex, int length) {
    checkDstIndex(index, length, toIndex, to.length);
    Block block = root.block();
    block.memory.get(start(block) + index, to, toIndex, length);
    return this;
  }

  @Override
  public final ByteBuf getBytes(int index, ByteBuffer to) {
    int length = to.remaining();
    checkIndex(index, length);
    Block block = root.block();
    to.put(to.position(), block.memory, start(block) + index, length);
    to.position(to.limit());
    return this;
  }

  @Override
  public final ByteBuf getBytes(int index, OutputStream to, int length) throws IOException {
    checkIndex(index, length);
    byte[] chunk = new byte[Math.min(length, CHUNK)];
    for (int done = 0; done < length; ) {
      int count = Math.min(chunk.length, length - done);
      getBytes(index + done, chunk, 0, count);
      to.write(chunk, 0, count);
      done += count;
    }
    return this;
  }

  @Override
  public final int getBytes(int index, GatheringByteChannel to, int length) throws IOException {
    return length == 0 ? 0 : to.write(nioBuffer(index, length));
  }

  @Override
  public final int getBytes(int index, FileChannel to, long position, int length)
      throws IOException {
    return length == 0 ? 0 : to.write(nioBuffer(index, length), position);
  }

  @Override
  public final ByteBuf setBytes(int index, ByteBuf from, int fromIndex, int length) {
    checkSrcIndex(index, length, fromIndex, from.capacity());
    if (from instanceof RegisteredBytes registered) {
      copyFrom(index, registered, fromIndex, length);
    } else if (from.hasArray()) {
      setBytes(index, from.array(), from.arrayOffset() + fromIndex, length);
    } else {
      from.getBytes(fromIndex, exclusiveNioBuffer(index, length));
    }
    return this;
  }

  private void copyFrom(int index, RegisteredBytes from, int fromIndex, int length) {
    checkIndex(index, length);
    from.checkIndex(fromIndex, length);
    Block block = root.block();
    Block other = from.root.block();
    block.memory.put(start(block) + index, other.memory, from.start(other) + fromIndex, length);
  }

  @Override
  public final ByteBuf setBytes(int index, byte[] from, int fromIndex, int length) {
    checkSrcIndex(index, length, fromIndex, from.length);
    Block block = root.block();
    block.memory.put(start(block) + index, from, fromIndex, length);
    return this;
  }

  @Override
  public final ByteBuf setBytes(int index, ByteBuffer from) {
    int length = from.remaining();
    checkIndex(index, length);
    Block block = root.block();
    block.memory.put(start(block) + index, from, from.position(), length);
    from.position(from.limit());
    return this;
  }

  /** Reads until the length is reached, or the stream returns fewer bytes than requested. */
  @Override
  public final int setBytes(int index, InputStream from, int length) throws IOException {
    checkIndex(index, length);
    byte[] chunk = new byte[Math.min(length, CHUNK)];
    int done = 0;
    while (done < length) {
      int wanted = Math.min(chunk.length, length - done);
      int count = from.read(chunk, 0, wanted);
      if (count < 0) {
        return done == 0 ? -1 : done;
      }
      setBytes(index + done, chunk, 0, count);
      done += count;
      if (count < wanted) {
        break;
      }
    }
    return done;
  }

  /** Returns -1 also for a channel that is closed, as Netty's buffers do. */
  @Override
  public final int setBytes(int index, ScatteringByteChannel from, int length) throws IOException {
    ByteBuffer into = nioBuffer(index, length);
    try {
      return from.read(into);
    } catch (ClosedChannelException endOfStream) {
      return -1;
    }
  }

  /** Returns -1 also for a channel that is closed, as Netty's buffers do. */
  @Override
  public final int setBytes(int index, FileChannel from, long position, int length)
      throws IOException {
    ByteBuffer into = nioBuffer(index, length);
    try {
      return from.read(into, position);
    } catch (ClosedChannelException endOfStream) {
      return -1;
    }
  }

  @Override
  public final ByteBuf copy(int index, int length) {
    checkIndex(index, length);
    return alloc().directBuffer(length, maxCapacity()).writeBytes(this, index, length);
  }

  @Override
  public final int nioBufferCount() {
    return 1;
  }

  @Override
  public final ByteBuffer nioBuffer(int index, int length) {
    checkIndex(index, length);
    Block block = root.block();
    return block.memory.slice(start(block) + index, length);
  }

  @Override
  public final ByteBuffer[] nioBuffers(int index, int length) {
    return new ByteBuffer[] {nioBuffer(index, length)};
  }

  @Override
  public final ByteBuffer internalNioBuffer(int index, int length) {
    return exclusiveNioBuffer(index, length);
  }

  /**
   * As {@link #nioBuffer}, but may return the same object again: for one user at a time, such as a
   * writer.
   */
  abstract ByteBuffer exclusiveNioBuffer(int index, int length);

  @Override
  public final ByteBuf slice(int index, int length) {
    checkIndex(index, length);
    return new RegisteredView(this, index, length);
  }

  @Override
  public final ByteBuf retainedSlice() {
    return retainedSlice(readerIndex(), readableBytes());
  }

  @Override
  public final ByteBuf retainedSlice(int index, int length) {
    checkIndex(index, length);
    return root.sliceRetained(offset + index, length);
  }
}
