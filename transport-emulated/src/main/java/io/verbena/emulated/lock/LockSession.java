// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.lock;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * The keys of one connection. All of them depend on the secret and on every byte of the request and
 * the reply, in which both ends have put a fresh random number: if the ends saw different bytes,
 * they have different keys, and no two connections have the same.
 */
public final class LockSession {
  /** The protocol that both ends must speak; its name goes into every key. */
  static final String PROTOCOL = "verbena-lock-1 AES-256-GCM";

  private final byte[] ownMessages;
  private final byte[] peerMessages;
  private final PacketLock packets;

  private LockSession(byte[] ownMessages, byte[] peerMessages, PacketLock packets) {
    this.ownMessages = ownMessages;
    this.peerMessages = peerMessages;
    this.packets = packets;
  }

  /**
   * Derives the keys that follow from an exchange.
   *
   * @param active whether this end sent the request
   * @param request the request, with zeros in place of its proof
   * @param reply the reply, with zeros in place of its proof
   */
  public static LockSession of(LockKey key, boolean active, byte[] request, byte[] reply) {
    byte[] root = Hkdf.extract(transcript(request, reply), key.secret());
    byte[] askersMessages = expand(root, "messages of the active end");
    byte[] otherMessages = expand(root, "messages of the passive end");
    byte[] askersPackets = expand(root, "packets of the active end");
    byte[] otherPackets = expand(root, "packets of the passive end");
    return active
        ? new LockSession(
            askersMessages, otherMessages, new PacketLock(askersPackets, otherPackets))
        : new LockSession(
            otherMessages, askersMessages, new PacketLock(otherPackets, askersPackets));
  }

  /**
   * Hashes request and reply; each has a fixed length, so that no other pair has the same bytes.
   */
  private static byte[] transcript(byte[] request, byte[] reply) {
    try {
      MessageDigest hash = MessageDigest.getInstance("SHA-256");
      hash.update(PROTOCOL.getBytes(StandardCharsets.US_ASCII));
      hash.update(request);
      return hash.digest(reply);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256, which every JDK has", e);
    }
  }

  static byte[] expand(byte[] key, String purpose) {
    return Hkdf.expand(key, purpose.getBytes(StandardCharsets.US_ASCII), Hkdf.HASH);
  }

  /** Returns the proof of a message of this end. */
  public byte[] proof(byte[] message) {
    return LockProof.make(ownMessages, message);
  }

  /** Returns the proof that a message of the peer must have. */
  public byte[] proofOfPeer(byte[] message) {
    return LockProof.make(peerMessages, message);
  }

  /** Returns the lock that seals the packets of the connection; always the same. */
  public PacketLock packets() {
    return packets;
  }
}
