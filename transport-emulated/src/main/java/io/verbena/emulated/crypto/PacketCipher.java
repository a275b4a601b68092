// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.crypto;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import org.jspecify.annotations.Nullable;

/**
 * Seals the packets that one end of a connection sends, and opens those of the other end. Each
 * packet, also a retransmission, has its own number, so that no nonce is used twice and no packet
 * is accepted twice.
 *
 * <pre>{@code
 * header, unencrypted | encrypted ... | tag 16 | number 8
 * }</pre>
 *
 * <p>Not thread-safe.
 */
public final class PacketCipher {
  /** The number of bytes by which a packet grows. */
  public static final int OVERHEAD = PacketCipher.TAG + Long.BYTES;

  static final int TAG = 16;

  /**
   * A key seals 2 to the power of this many packets: fewer than the 2^23 packets, of up to 64 KiB,
   * for which RFC 9001, appendix B.1 bounds the advantage of an attacker.
   */
  private static final int EPOCH_BITS = 22;

  private final int epochBits;
  private final ReplayWindow window = new ReplayWindow();
  private PacketKey sealing;
  private long next;
  private @Nullable Cipher sealer;

  /** The key of the latest opened packets, and the keys before and after it. */
  private PacketKey opening;

  private @Nullable PacketKey before;
  private @Nullable PacketKey after;
  private long openingEpoch;
  private @Nullable Cipher opener;

  /** The result of opening a packet. */
  public enum Result {
    /** The packet is genuine and decrypted. */
    OPEN,
    /** The packet is not from the peer, or was changed on the way. */
    FORGED,
    /** The packet was received before, or is too old to tell. */
    REPLAYED
  }

  PacketCipher(byte[] own, byte[] peers) {
    this(own, peers, EPOCH_BITS);
  }

  /** Creates a cipher whose keys seal 2 to the power of {@code epochBits} packets; for tests. */
  PacketCipher(byte[] own, byte[] peers, int epochBits) {
    this.epochBits = epochBits;
    sealing = new PacketKey(own);
    opening = new PacketKey(peers);
  }

  /**
   * Seals a packet.
   *
   * @param work the workspace, with the packet's header in it
   * @param packet the packet, which gets {@link #OVERHEAD} more bytes at {@code to}
   * @param from the index of the first byte to encrypt
   * @param to one past the index of the last byte
   */
  public void seal(CipherWorkspace work, ByteBuffer packet, int from, int to) {
    Cipher cipher = sealer;
    if (cipher == null) {
      cipher = PacketKey.cipher();
      sealer = cipher;
    }
    long number = next++;
    if (number != 0 && (number & ((1L << epochBits) - 1)) == 0) {
      sealing = sealing.next();
    }
    int length = to - from;
    work.take(packet, from, length);
    try {
      sealing.begin(cipher, Cipher.ENCRYPT_MODE, number, work.header);
      int sealed = cipher.doFinal(work.in, 0, length, work.out, 0);
      packet.put(from, work.out, 0, sealed);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("seal a packet", e);
    }
    packet.putLong(to + TAG, number);
  }

  /**
   * Opens a packet. Unless the packet is genuine, neither the packet nor this cipher changes.
   *
   * @param work the workspace, with the packet's header in it
   * @param packet the packet, in which the decrypted bytes replace the encrypted ones
   * @param from the index of the first encrypted byte
   * @param to one past the index of the last byte
   */
  public Result open(CipherWorkspace work, ByteBuffer packet, int from, int to) {
    long number = packet.getLong(to + TAG);
    if (!window.isNew(number)) {
      return Result.REPLAYED;
    }
    long epoch = number >>> epochBits;
    PacketKey key = key(epoch);
    if (key == null) {
      return Result.FORGED;
    }
    Cipher cipher = opener;
    if (cipher == null) {
      cipher = PacketKey.cipher();
      opener = cipher;
    }
    work.take(packet, from, to - from + TAG);
    try {
      key.begin(cipher, Cipher.DECRYPT_MODE, number, work.header);
      int opened = cipher.doFinal(work.in, 0, to - from + TAG, work.out, 0);
      packet.put(from, work.out, 0, opened);
    } catch (AEADBadTagException e) {
      return Result.FORGED;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("open a packet", e);
    }
    window.add(number);
    if (epoch > openingEpoch) {
      before = opening;
      opening = key;
      openingEpoch = epoch;
      after = null;
    }
    return Result.OPEN;
  }

  private @Nullable PacketKey key(long epoch) {
    if (epoch == openingEpoch) {
      return opening;
    }
    if (epoch == openingEpoch - 1) {
      return before;
    }
    if (epoch != openingEpoch + 1) {
      return null;
    }
    PacketKey following = after;
    if (following == null) {
      following = opening.next();
      after = following;
    }
    return following;
  }

  @Override
  public String toString() {
    return "cipher, " + next + " packets sealed";
  }
}
