// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;

/**
 * A mapped file, until the mapping is closed. The memory of a file without a name is freed only
 * when no process maps the file, and the garbage collector, which unmaps buffers otherwise, may not
 * run for hours.
 *
 * <p>No thread may access the bytes during the close or later: that would crash the JVM.
 */
final class Mapping implements AutoCloseable {
  private final ByteBuffer bytes;
  private final Unmapping unmapping;
  private boolean closed;

  private Mapping(ByteBuffer bytes, Unmapping unmapping) {
    this.bytes = bytes;
    this.unmapping = unmapping;
  }

  /** Ends a mapping. */
  interface Unmapping {
    void run() throws Exception;
  }

  /** Maps the first bytes of a file, for reading and writing. */
  static Mapping of(FileChannel file, int length) throws IOException {
    return Unmapper.HAS_ARENAS
        ? Unmapper.map(file, length)
        : of(file.map(MapMode.READ_WRITE, 0, length));
  }

  private static Mapping of(ByteBuffer mapped) {
    return new Mapping(mapped, () -> Unmapper.unmap(mapped));
  }

  static Mapping of(ByteBuffer mapped, Unmapping unmapping) {
    return new Mapping(mapped, unmapping);
  }

  ByteBuffer bytes() {
    return bytes;
  }

  /** Unmaps the file. Idempotent; for one thread at a time. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      unmapping.run();
    } catch (Exception e) {
      throw new IllegalStateException("unmap", e);
    }
  }
}
