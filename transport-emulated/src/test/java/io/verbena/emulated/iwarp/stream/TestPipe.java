// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;

/** One direction of a stream in memory, which a test can cut, break or change. */
final class TestPipe implements ScatteringByteChannel, GatheringByteChannel {
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private byte[] bytes = new byte[0];
  private int read;
  private boolean ended;

  /** Position in the stream at which a read ends. */
  int cutAt = Integer.MAX_VALUE;

  /** Maximum number of bytes per read and per write. */
  int most = Integer.MAX_VALUE;

  /** Position from which on reads and writes fail. */
  int brokenAt = Integer.MAX_VALUE;

  /** Position of the byte that is changed. */
  int changedAt = -1;

  /** Runs after each read. */
  Runnable afterRead = () -> {};

  /** Returns the number of bytes written. */
  int length() {
    return written.size();
  }

  /** Returns the number of bytes not yet read. */
  int waiting() {
    return written.size() - read;
  }

  void end() {
    ended = true;
  }

  @Override
  public long write(ByteBuffer[] from, int offset, int count) throws IOException {
    if (ended) {
      throw new IOException("closed");
    }
    long done = 0;
    for (int i = offset; i < offset + count; i++) {
      while (from[i].hasRemaining() && done < most) {
        if (written.size() >= brokenAt) {
          if (done == 0) {
            throw new IOException("broken");
          }
          return done;
        }
        int change = written.size() == changedAt ? 0x55 : 0;
        written.write(from[i].get() ^ change);
        done++;
      }
    }
    return done;
  }

  @Override
  public long read(ByteBuffer[] into, int offset, int count) throws IOException {
    if (bytes.length != written.size()) {
      bytes = written.toByteArray();
    }
    if (read >= brokenAt) {
      throw new IOException("broken");
    }
    if (read == bytes.length) {
      return ended ? -1 : 0;
    }
    int end = Math.min(Math.min(bytes.length, brokenAt), read < cutAt ? cutAt : Integer.MAX_VALUE);
    end = (int) Math.min(end, (long) read + most);
    int done = 0;
    for (int i = offset; i < offset + count; i++) {
      int part = Math.min(into[i].remaining(), end - read);
      into[i].put(bytes, read, part);
      read += part;
      done += part;
    }
    afterRead.run();
    return done;
  }

  @Override
  public long write(ByteBuffer[] from) throws IOException {
    return write(from, 0, from.length);
  }

  @Override
  public int write(ByteBuffer from) throws IOException {
    return (int) write(new ByteBuffer[] {from}, 0, 1);
  }

  @Override
  public long read(ByteBuffer[] into) throws IOException {
    return read(into, 0, into.length);
  }

  @Override
  public int read(ByteBuffer into) throws IOException {
    return (int) read(new ByteBuffer[] {into}, 0, 1);
  }

  @Override
  public boolean isOpen() {
    return true;
  }

  @Override
  public void close() {}
}
