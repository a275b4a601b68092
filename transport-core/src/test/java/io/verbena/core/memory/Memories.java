// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledUnsafeDirectByteBuf;
import io.verbena.RdmaOptions;
import java.nio.ByteBuffer;

/** Creates registered memory for tests and shows its bytes as the HCA sees them. */
final class Memories {
  /**
   * The message of the exception that a buffer {@linkplain #withoutNioBuffers without NIO buffers}
   * throws.
   */
  static final String NO_NIO_BUFFER = "no NIO buffer, by a test";

  private Memories() {}

  /** Returns a direct buffer that throws when asked for an NIO buffer. */
  static ByteBuf withoutNioBuffers(int length) {
    return new UnpooledUnsafeDirectByteBuf(
        UnpooledByteBufAllocator.DEFAULT, ByteBuffer.allocateDirect(length), length) {
      @Override
      public ByteBuffer nioBuffer(int index, int count) {
        throw new IllegalStateException(NO_NIO_BUFFER);
      }
    };
  }

  static RegisteredMemory of(RecordingDomain domain) {
    return new RegisteredMemory(domain, RdmaOptions.defaults());
  }

  static RegisteredMemory of(RecordingDomain domain, long limit) {
    return new RegisteredMemory(domain, RdmaOptions.builder().maxRegisteredBytes(limit).build());
  }

  /** Returns the bytes that the HCA reads at the location of this range of a buffer. */
  static byte[] seenByHca(
      RecordingDomain domain, RegisteredMemory memory, ByteBuf buf, int index, int length) {
    Location location = new Location();
    if (!memory.locate(buf, index, length, location)) {
      throw new AssertionError("not located: " + buf);
    }
    return bytes(domain.local(location.lkey(), location.address(), length));
  }

  static byte[] bytes(ByteBuffer from) {
    byte[] bytes = new byte[from.remaining()];
    from.get(bytes);
    return bytes;
  }

  /** Fills the whole capacity with 0, 1, 2 and so on, and makes it readable. */
  static ByteBuf numbered(ByteBuf buf) {
    buf.clear().writeBytes(numbers(0, buf.capacity()));
    return buf;
  }

  static byte[] numbers(int from, int count) {
    byte[] numbers = new byte[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = (byte) (from + i);
    }
    return numbers;
  }
}
