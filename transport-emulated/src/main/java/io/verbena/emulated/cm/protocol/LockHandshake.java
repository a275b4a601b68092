// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.Reject;
import io.verbena.emulated.cm.protocol.CmMessage.Reply;
import io.verbena.emulated.cm.protocol.CmMessage.Request;
import io.verbena.emulated.cm.protocol.CmMessage.RequestLock;
import io.verbena.emulated.cm.protocol.MadLayout.Rep;
import io.verbena.emulated.lock.LockKey;
import io.verbena.emulated.lock.LockProof;
import io.verbena.emulated.lock.LockSession;
import io.verbena.emulated.lock.PacketLock;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How the two ends of a connection with a lock prove to each other that they have the key, and come
 * to keys of this connection.
 *
 * <pre>
 *  REQ   nonce of the active end, proof by the key
 *  REP   nonce of the passive end, proof by the keys of the connection: of the key, of both nonces,
 *        and of every field of REQ and REP
 *  RTU   proof by the keys of the connection; so does the first packet prove it
 *  DREQ, DREP, and REJ of what is established: likewise
 *  REJ of a REQ by the program: proof by the key, of this REQ
 * </pre>
 *
 * <p>A proof covers all fields of its message, as {@link Mad#write} writes them.
 */
final class LockHandshake {
  /** The lock that is spoken here: both are part of all proofs. */
  static final int VERSION = 1;

  /** AES-256-GCM. */
  static final int SUITE = 1;

  /** Bytes of a nonce. */
  static final int NONCE = 16;

  /** What a REP has less room for: version, nonce, proof. */
  static final int REPLY_ROOM = Mad.LENGTH - Rep.LOCK_VERSION;

  private static final int PROOF = Mad.LENGTH - LockProof.LENGTH;

  private final LockKey key;
  private final boolean active;

  /** The REQ, with zeros for its proof. */
  private final byte[] request;

  private @Nullable LockSession session;

  private LockHandshake(LockKey key, boolean active, Request request) {
    this.key = key;
    this.active = active;
    this.request = unproven(request);
  }

  private static byte[] unproven(Request request) {
    RequestLock lock = request.lock();
    if (lock == null) {
      throw new IllegalArgumentException("a request without a lock");
    }
    return bytes(request.with(lock.with(new byte[LockProof.LENGTH])));
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

  /** Active end: a request, otherwise complete, with a fresh nonce and its proof. */
  static Request prove(Request request, LockKey key, CmPort secrets) {
    RequestLock lock =
        new RequestLock(
            VERSION,
            SUITE,
            ByteBuffer.wrap(nonce(secrets)).asReadOnlyBuffer(),
            ByteBuffer.allocate(LockProof.LENGTH).asReadOnlyBuffer());
    Request asked = request.with(lock);
    return asked.with(lock.with(LockProof.ofRequest(key, unproven(asked))));
  }

  /** The active end of a request that was {@linkplain #prove proven}. */
  static LockHandshake active(LockKey key, Request request) {
    return new LockHandshake(key, /* active= */ true, request);
  }

  /**
   * Whether a request may come in. It must have a lock where there is a key, have none where there
   * is none, be of somebody with the key, and be for this port and no other that has the key.
   */
  static boolean admits(@Nullable LockKey key, Request request, Gid port) {
    RequestLock lock = request.lock();
    if (key == null || lock == null) {
      return key == null && lock == null;
    }
    return lock.version() == VERSION
        && lock.suite() == SUITE
        && request.destination().equals(port)
        && LockProof.equal(LockProof.ofRequest(key, unproven(request)), lock.proof());
  }

  /** The passive end of a request that was {@linkplain #admits admitted}. */
  static LockHandshake passive(LockKey key, Request request) {
    return new LockHandshake(key, /* active= */ false, request);
  }

  // ---- REP

  /** Passive end: a reply with nonce and proof at the end of its private data. */
  Reply prove(Reply reply, CmPort secrets) {
    int at = Rep.LOCK_VERSION - Rep.PRIVATE;
    ByteBuffer data = ByteBuffer.allocate(Mad.REPLY_DATA);
    data.put(0, reply.privateData(), reply.privateData().position(), at);
    data.putInt(at, VERSION).put(Rep.LOCK_NONCE - Rep.PRIVATE, nonce(secrets));
    Reply whole = reply.with(data.asReadOnlyBuffer());
    LockSession made = LockSession.of(key, active, request, bytes(whole));
    session = made;
    data.put(PROOF - Rep.PRIVATE, made.proof(bytes(whole)));
    return whole;
  }

  /** Active end: whether a reply comes from somebody with the key, who has had this request. */
  boolean admits(Reply reply) {
    byte[] whole = bytes(reply);
    ByteBuffer mad = ByteBuffer.wrap(whole);
    ByteBuffer proof = ByteBuffer.wrap(whole.clone(), PROOF, LockProof.LENGTH);
    mad.put(PROOF, new byte[LockProof.LENGTH]);
    LockSession made = LockSession.of(key, active, request, whole);
    if (mad.getInt(Rep.LOCK_VERSION) != VERSION
        || !LockProof.equal(made.proofOfPeer(whole), proof)) {
      return false;
    }
    session = made;
    return true;
  }

  /** What seals packets; null before there are keys of the connection. */
  @Nullable PacketLock packets() {
    LockSession made = session;
    return made == null ? null : made.packets();
  }

  /** A reply as it is for the program, which sees its own private data. */
  static Reply forProgram(Reply reply) {
    ByteBuffer data = reply.privateData();
    return reply.with(data.slice(data.position(), data.remaining() - REPLY_ROOM));
  }

  // ---- what follows

  /**
   * A message with its proof at the end of its private data; without keys of the connection, with
   * none.
   *
   * @param length of its private data
   * @param message makes the message of its private data, to which the proof is still added
   */
  <M extends CmMessage> M prove(int length, Function<ByteBuffer, M> message) {
    ByteBuffer data = ByteBuffer.allocate(length);
    M made = message.apply(data.asReadOnlyBuffer());
    LockSession keys = session;
    if (keys != null) {
      data.put(length - LockProof.LENGTH, keys.proof(bytes(made)));
    }
    return made;
  }

  /** Whether a message of what has keys of its connection comes from the peer. */
  boolean admits(CmMessage message) {
    LockSession keys = session;
    return keys != null && hasProof(message, keys::proofOfPeer);
  }

  /** Passive end: the program's REJ of the request, with its proof. */
  Reject proveRefusal(ByteBuffer privateData, Function<ByteBuffer, Reject> message) {
    ByteBuffer data = ByteBuffer.allocate(Mad.REJECT_DATA);
    data.put(0, privateData, privateData.position(), privateData.remaining());
    Reject made = message.apply(data.asReadOnlyBuffer());
    data.put(Mad.REJECT_DATA - LockProof.LENGTH, LockProof.ofRefusal(key, request, bytes(made)));
    return made;
  }

  /**
   * A REJ as it is for the program. Anybody can refuse a connection; but what the peer's program
   * says about it to the active end comes from there, or is not told.
   */
  Reject forProgram(Reject reject) {
    if (!active) {
      return reject;
    }
    boolean proven = hasProof(reject, bytes -> LockProof.ofRefusal(key, request, bytes));
    ByteBuffer data = reject.privateData();
    return reject.with(
        proven
            ? data.slice(data.position(), data.remaining() - LockProof.LENGTH)
            : ByteBuffer.allocate(0).asReadOnlyBuffer());
  }

  private static boolean hasProof(CmMessage message, Function<byte[], byte[]> expected) {
    byte[] whole = bytes(message);
    ByteBuffer proof = ByteBuffer.wrap(whole.clone(), PROOF, LockProof.LENGTH);
    ByteBuffer.wrap(whole).put(PROOF, new byte[LockProof.LENGTH]);
    return LockProof.equal(expected.apply(whole), proof);
  }
}
