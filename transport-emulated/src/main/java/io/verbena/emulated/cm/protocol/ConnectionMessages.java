// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.Answered;
import io.verbena.emulated.cm.protocol.CmMessage.DisconnectReply;
import io.verbena.emulated.cm.protocol.CmMessage.DisconnectRequest;
import io.verbena.emulated.cm.protocol.CmMessage.ReadyToUse;
import io.verbena.emulated.cm.protocol.CmMessage.Receipt;
import io.verbena.emulated.cm.protocol.CmMessage.Reject;
import io.verbena.emulated.cm.protocol.CmMessage.Reply;
import java.nio.ByteBuffer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one end of a connection: with the ids of both ends, and proven where there is a
 * lock.
 */
final class ConnectionMessages {
  /** The program takes its time: 4.096 us times 2 to the power of it is 269 ms. */
  private static final int SERVICE_TIMEOUT = 16;

  private final long transaction;
  private final int localId;
  private final @Nullable LockHandshake lock;
  private int remoteId;

  /**
   * The messages of an end.
   *
   * @param remoteId 0 until {@link #remoteId(int)}
   * @param lock how the ends prove who they are, or null
   */
  ConnectionMessages(long transaction, int localId, int remoteId, @Nullable LockHandshake lock) {
    this.transaction = transaction;
    this.localId = localId;
    this.remoteId = remoteId;
    this.lock = lock;
  }

  int localId() {
    return localId;
  }

  int remoteId() {
    return remoteId;
  }

  void remoteId(int id) {
    remoteId = id;
  }

  @Nullable LockHandshake lock() {
    return lock;
  }

  // ---- sent

  /** A REP; with a lock not yet proven. */
  Reply reply(Reply reply) {
    return new Reply(
        transaction,
        localId,
        remoteId,
        reply.queuePair(),
        reply.startingPsn(),
        reply.responderResources(),
        reply.initiatorDepth(),
        reply.rnrRetry(),
        reply.guid(),
        reply.privateData());
  }

  /** An RTU. */
  ReadyToUse ready() {
    return proven(Mad.READY_DATA, data -> new ReadyToUse(transaction, localId, remoteId, data));
  }

  /** An MRA of the REQ, which needs no proof: it promises nothing. */
  Receipt receipt() {
    return new Receipt(
        transaction,
        localId,
        remoteId,
        Answered.REQUEST,
        SERVICE_TIMEOUT,
        Mad.noData(Mad.RECEIPT_DATA));
  }

  /** A DREQ, which begins a transaction of its own. */
  DisconnectRequest disconnect(long asking, int remoteQueuePair) {
    return proven(
        Mad.DISCONNECT_DATA,
        data -> new DisconnectRequest(asking, localId, remoteId, remoteQueuePair, data));
  }

  /** A DREP. */
  DisconnectReply disconnected(DisconnectRequest request) {
    return proven(
        Mad.READY_DATA,
        data -> new DisconnectReply(request.transaction(), localId, remoteId, data));
  }

  /** A REJ; with a lock the program's data goes with that of a REQ only. */
  Reject reject(Answered answered, int reason, long information, ByteBuffer privateData) {
    Function<ByteBuffer, Reject> message =
        data -> new Reject(transaction, localId, remoteId, answered, reason, information, data);
    if (lock == null) {
      return message.apply(Mad.padded(privateData, Mad.REJECT_DATA));
    }
    return answered == Answered.REQUEST
        ? lock.proveRefusal(privateData, message)
        : lock.prove(Mad.REJECT_DATA, message);
  }

  /** A message without private data; with a lock, and keys of the connection, proven. */
  private <M extends CmMessage> M proven(int length, Function<ByteBuffer, M> message) {
    return lock == null ? message.apply(Mad.noData(length)) : lock.prove(length, message);
  }

  // ---- received

  /** Whether a message comes from the peer; a REP is judged where it is taken. */
  boolean admits(CmMessage message) {
    boolean needsProof =
        message instanceof ReadyToUse
            || message instanceof Reject
            || message instanceof DisconnectRequest
            || message instanceof DisconnectReply;
    return lock == null || !needsProof || lock.admits(message);
  }

  /** A REJ as the program sees it. */
  Reject forProgram(Reject reject) {
    return lock == null ? reject : lock.forProgram(reject);
  }
}
