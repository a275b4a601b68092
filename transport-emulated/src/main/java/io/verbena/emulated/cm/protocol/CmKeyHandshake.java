// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.Reject;
import io.verbena.emulated.cm.protocol.CmMessage.Reply;
import io.verbena.emulated.cm.protocol.CmMessage.Request;
import io.verbena.emulated.cm.protocol.CmMessage.RequestLock;
import io.verbena.emulated.cm.protocol.MadLayout.Rep;
import io.verbena.emulated.crypto.PacketCipher;
import io.verbena.emulated.crypto.SecretProof;
import io.verbena.emulated.crypto.SessionKeys;
import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The handshake of a connection with a lock: both ends prove to each other that they have the key,
 * and derive the keys of this connection.
 *
 * <pre>
 *  REQ   nonce of the active end, proof by the key
 *  REP   nonce of the passive end, proof by the keys of the connection: of the key, of both nonces,
 *        and of every field of REQ and REP
 *  RTU   proof by the keys of the connection; the first packet is a proof, too
 *  DREQ, DREP, and REJ of later messages: proof by the keys of the connection
 *  REJ of a REQ by the program: proof by the key, of this REQ
 * </pre>
 *
 * <p>A proof covers all bytes that {@link Mad#write} writes for its message.
 */
final class CmKeyHandshake {
  /** The version of the lock protocol; version and suite are part of all proofs. */
  static final int VERSION = 1;

  /** AES-256-GCM. */
  static final int SUITE = 1;

  /** The number of bytes of a nonce. */
  static final int NONCE = 16;

  /** The number of bytes by which a lock shortens a REP's private data: version, nonce, proof. */
  static final int REPLY_ROOM = Mad.LENGTH - Rep.LOCK_VERSION;

  private static final int PROOF = Mad.LENGTH - SecretProof.LENGTH;

  private final SharedSecret key;
  private final boolean active;

  /** The REQ, with zeros in place of its proof. */
  private final byte[] request;

  private @Nullable SessionKeys session;

  private CmKeyHandshake(SharedSecret key, boolean active, Request request) {
    this.key = key;
    this.active = active;
    this.request = unproven(request);
  }

  private static byte[] unproven(Request request) {
    RequestLock lock = request.lock();
    if (lock == null) {
      throw new IllegalArgumentException("a request without a lock");
    }
    return bytes(request.with(lock.with(new byte[SecretProof.LENGTH])));
  }

  private static byte[] bytes(CmMessage message) {
    ByteBuffer mad = ByteBuffer.allocate(Mad.LENGTH);
    Mad.write(message, mad);
    return mad.array();
  }

  private static byte[] nonce(CmPort secrets) {
    ByteBuffer nonce = ByteBuffer.allocate(NONCE);
    while (nonce.hasRemaining()) {
      nonce.putInt(secrets.nextSecret());
    }
    return nonce.array();
  }

  // ---- REQ

  /** Active end: returns an otherwise complete request with a fresh nonce and its proof added. */
  static Request prove(Request request, SharedSecret key, CmPort secrets) {
    RequestLock lock =
        new RequestLock(
            VERSION,
            SUITE,
            ByteBuffer.wrap(nonce(secrets)).asReadOnlyBuffer(),
            ByteBuffer.allocate(SecretProof.LENGTH).asReadOnlyBuffer());
    Request asked = request.with(lock);
    return asked.with(lock.with(SecretProof.ofRequest(key, unproven(asked))));
  }

  /** Returns the active end's handshake for a request that was {@linkplain #prove proven}. */
  static CmKeyHandshake active(SharedSecret key, Request request) {
    return new CmKeyHandshake(key, /* active= */ true, request);
  }

  /**
   * Returns whether a request is admitted. With a key, the request must have a lock and a proof of
   * the key, and be addressed to this port rather than to another port with the same key. Without a
   * key, it must have no lock.
   */
  static boolean admits(@Nullable SharedSecret key, Request request, Gid port) {
    RequestLock lock = request.lock();
    if (key == null || lock == null) {
      return key == null && lock == null;
    }
    return lock.version() == VERSION
        && lock.suite() == SUITE
        && request.destination().equals(port)
        && SecretProof.equal(SecretProof.ofRequest(key, unproven(request)), lock.proof());
  }

  /** Returns the passive end's handshake for a request that was {@linkplain #admits admitted}. */
  static CmKeyHandshake passive(SharedSecret key, Request request) {
    return new CmKeyHandshake(key, /* active= */ false, request);
  }

  // ---- REP

  /**
   * Passive end: returns a reply with a fresh nonce and its proof at the end of the private data.
   */
  Reply prove(Reply reply, CmPort secrets) {
    int at = Rep.LOCK_VERSION - Rep.PRIVATE;
    ByteBuffer data = ByteBuffer.allocate(Mad.REPLY_DATA);
    data.put(0, reply.privateData(), reply.privateData().position(), at);
    data.putInt(at, VERSION).put(Rep.LOCK_NONCE - Rep.PRIVATE, nonce(secrets));
    Reply whole = reply.with(data.asReadOnlyBuffer());
    SessionKeys made = SessionKeys.of(key, active, request, bytes(whole));
    session = made;
    data.put(PROOF - Rep.PRIVATE, made.proof(bytes(whole)));
    return whole;
  }

  /**
   * Active end: returns whether a reply comes from a peer that has the key and received this
   * request.
   */
  boolean admits(Reply reply) {
    byte[] whole = bytes(reply);
    ByteBuffer mad = ByteBuffer.wrap(whole);
    ByteBuffer proof = ByteBuffer.wrap(whole.clone(), PROOF, SecretProof.LENGTH);
    mad.put(PROOF, new byte[SecretProof.LENGTH]);
    SessionKeys made = SessionKeys.of(key, active, request, whole);
    if (mad.getInt(Rep.LOCK_VERSION) != VERSION
        || !SecretProof.equal(made.proofOfPeer(whole), proof)) {
      return false;
    }
    session = made;
    return true;
  }

  /** Returns the cipher that seals packets; null before the connection has keys. */
  @Nullable PacketCipher packets() {
    SessionKeys made = session;
    return made == null ? null : made.packets();
  }

  /** Returns a reply with only the private data of the peer's program. */
  static Reply forProgram(Reply reply) {
    ByteBuffer data = reply.privateData();
    return reply.with(data.slice(data.position(), data.remaining() - REPLY_ROOM));
  }

  // ---- later messages

  /**
   * Returns a message with its proof at the end of the private data; without a proof if the
   * connection has no keys.
   *
   * @param length the length of its private data
   * @param message creates the message with this private data, to which the proof is added
   *     afterwards
   */
  <M extends CmMessage> M prove(int length, Function<ByteBuffer, M> message) {
    ByteBuffer data = ByteBuffer.allocate(length);
    M made = message.apply(data.asReadOnlyBuffer());
    SessionKeys keys = session;
    if (keys != null) {
      data.put(length - SecretProof.LENGTH, keys.proof(bytes(made)));
    }
    return made;
  }

  /**
   * Returns whether the peer's proof in a message is right; false while the connection has no keys.
   */
  boolean admits(CmMessage message) {
    SessionKeys keys = session;
    return keys != null && hasProof(message, keys::proofOfPeer);
  }

  /** Passive end: returns the program's REJ of the request with its proof added. */
  Reject proveRefusal(ByteBuffer privateData, Function<ByteBuffer, Reject> message) {
    ByteBuffer data = ByteBuffer.allocate(Mad.REJECT_DATA);
    data.put(0, privateData, privateData.position(), privateData.remaining());
    Reject made = message.apply(data.asReadOnlyBuffer());
    data.put(
        Mad.REJECT_DATA - SecretProof.LENGTH, SecretProof.ofRefusal(key, request, bytes(made)));
    return made;
  }

  /**
   * Returns a REJ with the private data for the program. Any host can forge a REJ; so at the active
   * end, private data without the peer's proof is removed.
   */
  Reject forProgram(Reject reject) {
    if (!active) {
      return reject;
    }
    boolean proven = hasProof(reject, bytes -> SecretProof.ofRefusal(key, request, bytes));
    ByteBuffer data = reject.privateData();
    return reject.with(
        proven
            ? data.slice(data.position(), data.remaining() - SecretProof.LENGTH)
            : ByteBuffer.allocate(0).asReadOnlyBuffer());
  }

  private static boolean hasProof(CmMessage message, Function<byte[], byte[]> expected) {
    byte[] whole = bytes(message);
    ByteBuffer proof = ByteBuffer.wrap(whole.clone(), PROOF, SecretProof.LENGTH);
    ByteBuffer.wrap(whole).put(PROOF, new byte[SecretProof.LENGTH]);
    return SecretProof.equal(expected.apply(whole), proof);
  }
}
