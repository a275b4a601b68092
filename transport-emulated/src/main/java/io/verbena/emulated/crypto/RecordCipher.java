// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.crypto;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import org.jspecify.annotations.Nullable;

/**
 * Seals the bytes that one end of a stream sends, in records, and opens the records of the other
 * end in the order of the stream. If a record is missing, repeated or out of order, opening fails.
 *
 * <pre>{@code
 * bytes that are encrypted: 4 | encrypted ... | tag 16
 * }</pre>
 *
 * <p>Not thread-safe.
 */
public final class RecordCipher {
  /** The most bytes of the stream in one record. */
  public static final int MOST = 16 * 1024;

  /** The number of bytes of the length field at the start of a record. */
  public static final int HEADER = Integer.BYTES;

  /** The number of bytes by which a record is longer than its content. */
  public static final int OVERHEAD = HEADER + PacketCipher.TAG;

  /** The result of {@link #length} if no record begins with these bytes. */
  public static final int NONE = -1;

  /**
   * A key seals 2 to the power of this many records: fewer than the limit of 2^24.5 records of this
   * size (RFC 8446, section 5.5).
   */
  private static final int EPOCH_BITS = 22;

  private final Direction sealing;
  private final Direction opening;
  private boolean broken;

  /**
   * The keys of one direction, and the number of its next record; records do not carry their
   * number.
   */
  private static final class Direction {
    private final long epochMask;
    private PacketKey key;
    private long number;
    private @Nullable Cipher cipher;

    Direction(byte[] secret, int epochBits) {
      epochMask = (1L << epochBits) - 1;
      key = new PacketKey(secret);
    }

    int next(int mode, CipherWorkspace work, int length) throws GeneralSecurityException {
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

  RecordCipher(byte[] own, byte[] peers) {
    this(own, peers, EPOCH_BITS);
  }

  /** Creates a cipher whose keys seal 2 to the power of {@code epochBits} records; for tests. */
  RecordCipher(byte[] own, byte[] peers, int epochBits) {
    sealing = new Direction(own, epochBits);
    opening = new Direction(peers, epochBits);
  }

  /**
   * Seals a record.
   *
   * @param work the workspace, with the bytes at the start of {@link CipherWorkspace#in}
   * @param length the number of these bytes, 1 to {@link #MOST}
   * @param to receives the record, which has {@link #OVERHEAD} more bytes, at its position
   */
  public void seal(CipherWorkspace work, int length, ByteBuffer to) {
    header(work, length);
    try {
      int sealed = sealing.next(Cipher.ENCRYPT_MODE, work, length);
      to.put(work.header).put(work.out, 0, sealed);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("seal a record", e);
    }
  }

  private static void header(CipherWorkspace work, int length) {
    ByteBuffer.wrap(work.header).putInt(0, length);
  }

  /**
   * Returns the number of bytes of content in the record that begins at an index, or {@link #NONE}
   * if no record begins with these {@link #HEADER} bytes.
   */
  public static int length(ByteBuffer from, int at) {
    int length = from.getInt(at);
    return length < 1 || length > MOST ? NONE : length;
  }

  /**
   * Opens the next record of the peer. After one failure, all further calls fail.
   *
   * @param work the workspace, whose {@link CipherWorkspace#out} receives the bytes
   * @param from the buffer with the record; its position does not change
   * @param at the index of the record
   * @param length the result of {@link #length}
   * @return false if it is not the peer's next record
   */
  public boolean open(CipherWorkspace work, ByteBuffer from, int at, int length) {
    if (broken) {
      return false;
    }
    header(work, length);
    work.take(from, at + HEADER, length + PacketCipher.TAG);
    try {
      return opening.next(Cipher.DECRYPT_MODE, work, length + PacketCipher.TAG) == length;
    } catch (AEADBadTagException e) {
      broken = true;
      return false;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("open a record", e);
    }
  }
}
