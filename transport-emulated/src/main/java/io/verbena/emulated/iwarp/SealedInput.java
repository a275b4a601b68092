// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import io.verbena.emulated.crypto.CipherWorkspace;
import io.verbena.emulated.crypto.RecordCipher;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ScatteringByteChannel;

/**
 * Opens the records that come from a channel that the peer seals. This input may have read more
 * bytes than its reader has taken: the reader must not wait for the socket while {@link #hasMore}
 * returns true.
 */
final class SealedInput implements ScatteringByteChannel {
  /** The most records that are read at once. */
  private static final int RECORDS = 4;

  private final ScatteringByteChannel from;
  private final RecordCipher cipher;
  private final CipherWorkspace work;
  private final ByteBuffer[] one = new ByteBuffer[1];

  /** The bytes that have come: first {@link #opened} bytes for the reader, then records. */
  private final ByteBuffer come =
      ByteBuffer.allocateDirect(RECORDS * (RecordCipher.MOST + RecordCipher.OVERHEAD)).limit(0);

  private int opened;

  /**
   * Creates a channel.
   *
   * @param work the workspace, which other channels may use between two calls
   */
  SealedInput(ScatteringByteChannel from, RecordCipher cipher, CipherWorkspace work) {
    this.from = from;
    this.cipher = cipher;
    this.work = work;
  }

  /** Returns whether a read would find bytes that have been read from the channel already. */
  boolean hasMore() {
    return opened > 0 || hasRecord();
  }

  private boolean hasRecord() {
    if (come.remaining() < RecordCipher.HEADER) {
      return false;
    }
    int length = RecordCipher.length(come, come.position());
    return length == RecordCipher.NONE || come.remaining() - RecordCipher.OVERHEAD >= length;
  }

  /**
   * {@inheritDoc}
   *
   * @throws IOException also if the bytes that have come are not the peer's next record
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
        // The last read did not fill the buffer, so it has emptied the socket.
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

  /** Opens the next record; the opened bytes take the place of the record's end. */
  private void open() throws IOException {
    int at = come.position();
    int length = RecordCipher.length(come, at);
    if (length == RecordCipher.NONE) {
      throw new IOException("bytes: not a record of the peer");
    }
    if (!cipher.open(work, come, at, length)) {
      throw new IOException("a record of " + length + " bytes: not sealed by the peer, or changed");
    }
    int start = at + RecordCipher.OVERHEAD;
    come.put(start, work.out(), 0, length).position(start);
    opened = length;
  }

  /** Reads from the channel; returns the same as {@code read}. */
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
