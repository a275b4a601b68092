// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import io.verbena.emulated.lock.LockWorkspace;
import io.verbena.emulated.lock.RecordLock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ScatteringByteChannel;

/**
 * Opens what comes from a channel that the peer seals. It may have read more of the channel than
 * its reader has taken: the reader must not wait for the socket while this {@linkplain #hasMore has
 * more}.
 */
final class SealedInput implements ScatteringByteChannel {
  /** The records that are read at once, if they have come. */
  private static final int RECORDS = 4;

  private final ScatteringByteChannel from;
  private final RecordLock lock;
  private final LockWorkspace work;
  private final ByteBuffer[] one = new ByteBuffer[1];

  /** What has come: first {@link #opened} bytes for the reader, then records. */
  private final ByteBuffer come =
      ByteBuffer.allocateDirect(RECORDS * (RecordLock.MOST + RecordLock.OVERHEAD)).limit(0);

  private int opened;

  /**
   * Creates a channel.
   *
   * @param work the workspace, which others may use between two calls
   */
  SealedInput(ScatteringByteChannel from, RecordLock lock, LockWorkspace work) {
    this.from = from;
    this.lock = lock;
    this.work = work;
  }

  /** Returns whether a read would find something that has been read from the channel. */
  boolean hasMore() {
    return opened > 0 || hasRecord();
  }

  private boolean hasRecord() {
    if (come.remaining() < RecordLock.HEADER) {
      return false;
    }
    int length = RecordLock.length(come, come.position());
    return length == RecordLock.NONE || come.remaining() - RecordLock.OVERHEAD >= length;
  }

  /**
   * {@inheritDoc}
   *
   * @throws IOException also if what has come is not the peer's next record
   */
  @Override
  public long read(ByteBuffer[] into, int offset, int count) throws IOException {
    long given = 0;
    boolean asked = false;
    for (int i = offset; i < offset + count; ) {
      if (!into[i].hasRemaining()) {
        i++;
      } else if (opened > 0) {
        given += give(into[i]);
      } else if (hasRecord()) {
        open();
      } else if (asked) {
        // A call that gave less than there was room for has emptied the socket.
        break;
      } else {
        int came = more();
        if (came <= 0) {
          return given > 0 ? given : came;
        }
        asked = come.limit() < come.capacity();
      }
    }
    return given;
  }

  private int give(ByteBuffer into) {
    int length = Math.min(opened, into.remaining());
    into.put(into.position(), come, come.position(), length);
    into.position(into.position() + length);
    come.position(come.position() + length);
    opened -= length;
    return length;
  }

  /** Opens the next record; its bytes take the place of its end. */
  private void open() throws IOException {
    int at = come.position();
    int length = RecordLock.length(come, at);
    if (length == RecordLock.NONE) {
      throw new IOException("bytes: not a record of the peer");
    }
    if (!lock.open(work, come, at, length)) {
      throw new IOException("a record of " + length + " bytes: not sealed by the peer, or changed");
    }
    int start = at + RecordLock.OVERHEAD;
    come.put(start, work.out(), 0, length).position(start);
    opened = length;
  }

  /** Reads what has come from the channel; as {@code read}. */
  private int more() throws IOException {
    come.compact();
    try {
      return from.read(come);
    } finally {
      come.flip();
    }
  }

  @Override
  public long read(ByteBuffer[] into) throws IOException {
    return read(into, 0, into.length);
  }

  @Override
  public int read(ByteBuffer into) throws IOException {
    one[0] = into;
    return (int) read(one, 0, 1);
  }

  @Override
  public boolean isOpen() {
    return from.isOpen();
  }

  @Override
  public void close() throws IOException {
    from.close();
  }
}
