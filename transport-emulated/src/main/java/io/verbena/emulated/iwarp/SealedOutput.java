// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import io.verbena.emulated.crypto.CipherWorkspace;
import io.verbena.emulated.crypto.RecordCipher;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;

/**
 * Seals the bytes that are written to a channel.
 *
 * <p>A full socket may take only a part of a record, and the bytes of a record cannot be given back
 * to the writer. While the rest of a record waits here, {@link #write} reports one byte less than
 * it has sealed. So the writer has a byte to write until the whole record is out, and calls again
 * when the socket has room.
 */
final class SealedOutput implements GatheringByteChannel {
  /** The most records that are written at once. */
  private static final int RECORDS = 4;

  private final GatheringByteChannel to;
  private final RecordCipher cipher;
  private final CipherWorkspace work;
  private final ByteBuffer[] one = new ByteBuffer[1];

  /** Records that the channel has not taken, from position to limit. */
  private final ByteBuffer sealed =
      ByteBuffer.allocateDirect(RECORDS * (RecordCipher.MOST + RecordCipher.OVERHEAD)).limit(0);

  /** Whether the first byte of the next write is in a record already. */
  private boolean ahead;

  /** The index of the buffer that the last byte was taken from. */
  private int last;

  /**
   * Creates a channel.
   *
   * @param work the workspace, which other channels may use between two calls
   */
  SealedOutput(GatheringByteChannel to, RecordCipher cipher, CipherWorkspace work) {
    this.to = to;
    this.cipher = cipher;
    this.work = work;
  }

  @Override
  public long write(ByteBuffer[] from, int offset, int count) throws IOException {
    long taken = 0;
    while (isOut()) {
      int sealedNow = seal(from, offset, count);
      if (sealedNow == 0) {
        return taken;
      }
      taken += sealedNow;
    }
    if (taken > 0) {
      from[last].position(from[last].position() - 1);
      ahead = true;
      taken--;
    }
    return taken;
  }

  /** Returns whether records wait for the channel. */
  boolean hasRest() {
    return sealed.hasRemaining();
  }

  /** Writes the waiting records; returns whether the channel has taken all of them. */
  private boolean isOut() throws IOException {
    if (sealed.hasRemaining()) {
      int unused = to.write(sealed);
    }
    return !sealed.hasRemaining();
  }

  /** Seals as many bytes as there is room for records; returns their number. */
  private int seal(ByteBuffer[] from, int offset, int count) {
    sealed.clear();
    int all = 0;
    try {
      if (ahead) {
        all = advance(from, offset, count, 1);
        ahead = all == 0;
      }
      for (int i = 0; i < RECORDS; i++) {
        int length = copy(from, offset, count);
        if (length == 0) {
          break;
        }
        cipher.seal(work, length, sealed);
        all += advance(from, offset, count, length);
      }
    } finally {
      sealed.flip();
    }
    return all;
  }

  /** Copies the bytes of a record without moving positions: memory may be taken away meanwhile. */
  private int copy(ByteBuffer[] from, int offset, int count) {
    byte[] into = work.in();
    int length = 0;
    for (int i = offset; i < offset + count && length < RecordCipher.MOST; i++) {
      int piece = Math.min(from[i].remaining(), RecordCipher.MOST - length);
      from[i].get(from[i].position(), into, length, piece);
      length += piece;
    }
    return length;
  }

  private int advance(ByteBuffer[] from, int offset, int count, int length) {
    int left = length;
    for (int i = offset; i < offset + count && left > 0; i++) {
      int piece = Math.min(from[i].remaining(), left);
      from[i].position(from[i].position() + piece);
      left -= piece;
      last = i;
    }
    return length - left;
  }

  @Override
  public long write(ByteBuffer[] from) throws IOException {
    return write(from, 0, from.length);
  }

  @Override
  public int write(ByteBuffer from) throws IOException {
    one[0] = from;
    return (int) write(one, 0, 1);
  }

  @Override
  public boolean isOpen() {
    return to.isOpen();
  }

  @Override
  public void close() throws IOException {
    to.close();
  }
}
