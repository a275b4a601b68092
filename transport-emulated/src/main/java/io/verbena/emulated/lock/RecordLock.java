// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.lock;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import org.jspecify.annotations.Nullable;

/**
 * Seals the bytes that one end of a stream sends, in records, and opens those of the other, in the
 * order of the stream: a record that is left out, repeated or out of its place does not open.
 *
 * <pre>{@code
 * bytes that are encrypted: 4 | encrypted ... | tag 16
 * }</pre>
 *
 * <p>For one thread at a time.
 */
public final class RecordLock {
  /** The most bytes of the stream in a record. */
  public static final int MOST = 16 * 1024;

  /** Bytes of the length that a record begins with. */
  public static final int HEADER = Integer.BYTES;

  /** Bytes by which a record is longer than what is in it. */
  public static final int OVERHEAD = HEADER + PacketLock.TAG;

  /** What {@link #length} returns for bytes that no record begins with. */
  public static final int NONE = -1;

  /**
   * A key seals 2 to the power of this many records: below the 2^24.5 up to which an attacker
   * learns nothing of records of this size (RFC 8446, section 5.5).
   */
  private static final int EPOCH_BITS = 22;

  private final Direction sealing;
  private final Direction opening;
  private boolean broken;

  /** The keys of one direction, and the number of its next record, which is not sent. */
  private static final class Direction {
    private final long epochMask;
    private PacketKey key;
    private long number;
    private @Nullable Cipher cipher;

    Direction(byte[] secret, int epochBits) {
      epochMask = (1L << epochBits) - 1;
      key = new PacketKey(secret);
    }

    int next(int mode, LockWorkspace work, int length) throws GeneralSecurityException {
      Cipher ours = cipher;
      if (ours == null) {
        ours = PacketKey.cipher();
        cipher = ours;
      }
      if (number != 0 && (number & epochMask) == 0) {
        key = key.next();
      }
      key.begin(ours, mode, number, work.header);
      number++;
      return ours.doFinal(work.in, 0, length, work.out, 0);
    }
  }

  RecordLock(byte[] own, byte[] peers) {
    this(own, peers, EPOCH_BITS);
  }

  /** Creates a lock whose keys seal fewer records. */
  RecordLock(byte[] own, byte[] peers, int epochBits) {
    sealing = new Direction(own, epochBits);
    opening = new Direction(peers, epochBits);
  }

  /**
   * Seals a record.
   *
   * @param work the workspace, with the bytes at the start of {@link LockWorkspace#in}
   * @param length their number, 1 to {@link #MOST}
   * @param to takes the record, of {@link #OVERHEAD} bytes more, at its position
   */
  public void seal(LockWorkspace work, int length, ByteBuffer to) {
    header(work, length);
    try {
      int sealed = sealing.next(Cipher.ENCRYPT_MODE, work, length);
      to.put(work.header).put(work.out, 0, sealed);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("seal a record", e);
    }
  }

  private static void header(LockWorkspace work, int length) {
    ByteBuffer.wrap(work.header).putInt(0, length);
  }

  /**
   * Returns the number of bytes in the record that begins at a position, or {@link #NONE} if no
   * record begins with these {@link #HEADER} bytes.
   */
  public static int length(ByteBuffer from, int at) {
    int length = from.getInt(at);
    return length < 1 || length > MOST ? NONE : length;
  }

  /**
   * Opens the next record of the peer. After one that does not open, none does.
   *
   * @param work the workspace, whose {@link LockWorkspace#out} gets the bytes
   * @param from the bytes with the record, of which no position moves
   * @param at where it begins
   * @param length the number of bytes in it, of {@link #length}
   * @return false if it is not the peer's next record
   */
  public boolean open(LockWorkspace work, ByteBuffer from, int at, int length) {
    if (broken) {
      return false;
    }
    header(work, length);
    work.take(from, at + HEADER, length + PacketLock.TAG);
    try {
      return opening.next(Cipher.DECRYPT_MODE, work, length + PacketLock.TAG) == length;
    } catch (AEADBadTagException e) {
      broken = true;
      return false;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("open a record", e);
    }
  }
}
