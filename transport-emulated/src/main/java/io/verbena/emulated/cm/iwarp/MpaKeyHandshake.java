// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.iwarp;

import io.verbena.emulated.crypto.RecordCipher;
import io.verbena.emulated.crypto.SecretProof;
import io.verbena.emulated.crypto.SessionKeys;
import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.emulated.hca.Secrets;
import io.verbena.emulated.iwarp.frame.MpaFrame;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The handshake of a connection with a lock: both ends prove to each other that they have the key,
 * and derive the keys of this connection. The proofs follow the program's private data in the MPA
 * frames.
 *
 * <pre>
 *  request   nonce of the active end, proof by the key
 *  reply     nonce of the passive end, proof by the keys of the connection: of the key, of both
 *            nonces, and of every field of request and reply
 *  records   the active end's first record is a proof, too
 *  reply that rejects, from the program: proof by the key, of this request
 *
 *  private data of the program | version 4 | nonce 16 | proof 16
 * </pre>
 *
 * <p>An end without a key, or with another key, is refused by a reply that has the lock flag and no
 * proof.
 */
final class MpaKeyHandshake {
  private static final int VERSION = 1;
  private static final int NONCE = 2 * Long.BYTES;
  private static final int LENGTH = Integer.BYTES + NONCE + SecretProof.LENGTH;

  private final SharedSecret key;

  /** The request, with its proof. */
  private final MpaFrame request;

  private @Nullable SessionKeys session;

  private MpaKeyHandshake(SharedSecret key, MpaFrame request) {
    this.key = key;
    this.request = request;
  }

  /**
   * Returns the active end's handshake for a request, to which a fresh nonce and the proof are
   * added.
   */
  static MpaKeyHandshake active(SharedSecret key, MpaFrame request, Secrets secrets) {
    MpaFrame asks = unproven(request, nonce(secrets));
    MpaFrame proven = proven(asks, SecretProof.ofRequest(key, bytes(asks)));
    return new MpaKeyHandshake(key, proven);
  }

  /**
   * Returns whether a request is admitted. With a key, the request must have a lock and a proof of
   * the key; without a key, it must have no lock.
   */
  static boolean admits(@Nullable SharedSecret key, MpaFrame request) {
    if (key == null || !request.locked()) {
      return key == null && !request.locked();
    }
    return has(request) && isProof(request, SecretProof.ofRequest(key, unprovenBytes(request)));
  }

  /** Returns the passive end's handshake for a request that was {@linkplain #admits admitted}. */
  static MpaKeyHandshake passive(SharedSecret key, MpaFrame request) {
    return new MpaKeyHandshake(key, request);
  }

  /** Returns the reply to a request that is not admitted. */
  static MpaFrame refusalOf(MpaFrame request) {
    return request.refusal(ByteBuffer.allocate(0)).withLock(ByteBuffer.allocate(0));
  }

  /** Active end: returns the request with its proof. */
  MpaFrame request() {
    return request;
  }

  /** Passive end: returns an accepting reply with a fresh nonce and its proof added. */
  MpaFrame accept(MpaFrame reply, Secrets secrets) {
    MpaFrame accepts = unproven(reply, nonce(secrets));
    SessionKeys made =
        SessionKeys.of(key, /* active= */ false, unprovenBytes(request), bytes(accepts));
    session = made;
    return proven(accepts, made.proof(bytes(accepts)));
  }

  /** Passive end: returns the program's rejecting reply with its proof added. */
  MpaFrame refuse(MpaFrame refusal, Secrets secrets) {
    MpaFrame refuses = unproven(refusal, nonce(secrets));
    return proven(refuses, SecretProof.ofRefusal(key, unprovenBytes(request), bytes(refuses)));
  }

  /**
   * Active end: returns whether an accepting reply comes from a peer that has the key and received
   * this request.
   */
  boolean admits(MpaFrame reply) {
    if (!has(reply)) {
      return false;
    }
    byte[] accepts = unprovenBytes(reply);
    SessionKeys made = SessionKeys.of(key, /* active= */ true, unprovenBytes(request), accepts);
    if (!isProof(reply, made.proofOfPeer(accepts))) {
      return false;
    }
    session = made;
    return true;
  }

  /** Active end: returns whether a reply proves that the peer's program rejects this request. */
  boolean isRefusal(MpaFrame reply) {
    return has(reply)
        && isProof(reply, SecretProof.ofRefusal(key, unprovenBytes(request), unprovenBytes(reply)));
  }

  /**
   * Returns the cipher of the records that follow the frames; throws {@link IllegalStateException}
   * before the connection is accepted.
   */
  RecordCipher records() {
    SessionKeys made = session;
    if (made == null) {
      throw new IllegalStateException("cipher of records: none (expected: an accepted connection)");
    }
    return made.records();
  }

  /** Returns the program's private data in a frame that has a proof. */
  static ByteBuffer programs(MpaFrame frame) {
    ByteBuffer data = frame.privateData();
    return data.slice(data.position(), data.remaining() - LENGTH);
  }

  private static boolean has(MpaFrame frame) {
    ByteBuffer data = frame.privateData();
    return frame.locked()
        && data.remaining() >= LENGTH
        && data.getInt(data.limit() - LENGTH) == VERSION;
  }

  private static byte[] nonce(Secrets secrets) {
    return ByteBuffer.allocate(NONCE)
        .putLong(secrets.nextLong())
        .putLong(secrets.nextLong())
        .array();
  }

  private static MpaFrame unproven(MpaFrame frame, byte[] nonce) {
    ByteBuffer data = frame.privateData();
    return frame.withLock(
        ByteBuffer.allocate(data.remaining() + LENGTH)
            .put(data.duplicate())
            .putInt(VERSION)
            .put(nonce)
            .clear());
  }

  private static MpaFrame proven(MpaFrame frame, byte[] proof) {
    return frame.withLock(withProof(frame, proof));
  }

  private static byte[] unprovenBytes(MpaFrame frame) {
    return bytes(frame.withLock(withProof(frame, new byte[SecretProof.LENGTH])));
  }

  private static ByteBuffer withProof(MpaFrame frame, byte[] proof) {
    ByteBuffer data = frame.privateData();
    ByteBuffer copy = ByteBuffer.allocate(data.remaining()).put(data.duplicate()).flip();
    return copy.put(copy.limit() - SecretProof.LENGTH, proof);
  }

  private static boolean isProof(MpaFrame frame, byte[] expected) {
    ByteBuffer data = frame.privateData();
    return SecretProof.equal(
        expected, data.slice(data.limit() - SecretProof.LENGTH, SecretProof.LENGTH));
  }

  private static byte[] bytes(MpaFrame frame) {
    return frame.bytes().array();
  }
}
