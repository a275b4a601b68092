// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.crypto;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.jspecify.annotations.Nullable;

/**
 * The keys of one connection. All keys depend on the secret and on every byte of the request and of
 * the reply, which contain a fresh random number of each end. So ends that saw different bytes have
 * different keys, and no two connections have the same keys.
 */
public final class SessionKeys {
  /** The protocol of both ends; its name is part of the derivation of every key. */
  static final String PROTOCOL = "verbena-lock-1 AES-256-GCM";

  private static final String OF_ACTIVE = " of the active end";
  private static final String OF_PASSIVE = " of the passive end";
  private static final String MESSAGES = "messages";
  private static final String PACKETS = "packets";
  private static final String RECORDS = "records";

  private final byte[] root;
  private final boolean active;
  private final byte[] ownMessages;
  private final byte[] peerMessages;

  /** Created on first use: a connection has either packets or records. */
  private @Nullable PacketCipher packets;

  private @Nullable RecordCipher records;

  private SessionKeys(byte[] root, boolean active) {
    this.root = root;
    this.active = active;
    ownMessages = own(MESSAGES);
    peerMessages = peers(MESSAGES);
  }

  /**
   * Derives the keys from a request and its reply.
   *
   * @param active whether this end sent the request
   * @param request the request, with zeros in place of its proof
   * @param reply the reply, with zeros in place of its proof
   */
  public static SessionKeys of(SharedSecret key, boolean active, byte[] request, byte[] reply) {
    return new SessionKeys(Hkdf.extract(transcript(request, reply), key.secret()), active);
  }

  /**
   * Hashes request and reply. Each has a fixed length or contains its length, so that no other pair
   * has the same bytes.
   */
  private static byte[] transcript(byte[] request, byte[] reply) {
    try {
      MessageDigest hash = MessageDigest.getInstance("SHA-256");
      hash.update(PROTOCOL.getBytes(StandardCharsets.US_ASCII));
      hash.update(request);
      return hash.digest(reply);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256: not available (expected: in every JDK)", e);
    }
  }

  private byte[] own(String what) {
    return expand(root, what + (active ? OF_ACTIVE : OF_PASSIVE));
  }

  private byte[] peers(String what) {
    return expand(root, what + (active ? OF_PASSIVE : OF_ACTIVE));
  }

  static byte[] expand(byte[] key, String purpose) {
    return Hkdf.expand(key, purpose.getBytes(StandardCharsets.US_ASCII), Hkdf.HASH);
  }

  /** Returns the proof of a message of this end. */
  public byte[] proof(byte[] message) {
    return SecretProof.make(ownMessages, message);
  }

  /** Returns the proof that a message of the peer must have. */
  public byte[] proofOfPeer(byte[] message) {
    return SecretProof.make(peerMessages, message);
  }

  /** Returns the cipher of the connection's packets; always the same object. */
  public synchronized PacketCipher packets() {
    PacketCipher made = packets;
    if (made == null) {
      made = new PacketCipher(own(PACKETS), peers(PACKETS));
      packets = made;
    }
    return made;
  }

  /** Returns the cipher of the records of the connection's stream; always the same object. */
  public synchronized RecordCipher records() {
    RecordCipher made = records;
    if (made == null) {
      made = new RecordCipher(own(RECORDS), peers(RECORDS));
      records = made;
    }
    return made;
  }
}
