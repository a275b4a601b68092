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
 * Creates and checks the messages of one end of a connection: with the ids of both ends, and with a
 * proof if there is a lock.
 */
final class ConnectionMessages {
  /**
   * The code of the time that an MRA announces for the program: 4.096 us times 2 to the power of
   * 16, 268 ms.
   */
  private static final int SERVICE_TIMEOUT = 16;

  private final long transaction;
  private final int localId;
  private final @Nullable CmKeyHandshake handshake;
  private int remoteId;

  /**
   * Creates the messages of an end.
   *
   * @param remoteId the peer's id; 0 if {@link #remoteId(int)} will set it
   * @param handshake the handshake in which the ends prove that they have the key, or null
   */
  ConnectionMessages(
      long transaction, int localId, int remoteId, @Nullable CmKeyHandshake handshake) {
    this.transaction = transaction;
    this.localId = localId;
    this.remoteId = remoteId;
    this.handshake = handshake;
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

  @Nullable CmKeyHandshake handshake() {
    return handshake;
  }

  // ---- sent messages

  /** Returns a REP, without a proof. */
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

  ReadyToUse ready() {
    return proven(Mad.READY_DATA, data -> new ReadyToUse(transaction, localId, remoteId, data));
  }

  /** Returns an MRA for the REQ, which needs no proof, since it commits to nothing. */
  Receipt receipt() {
    return new Receipt(
        transaction,
        localId,
        remoteId,
        Answered.REQUEST,
        SERVICE_TIMEOUT,
        Mad.noData(Mad.RECEIPT_DATA));
  }

  /** Returns a DREQ, which begins a new transaction. */
  DisconnectRequest disconnect(long asking, int remoteQueuePair) {
    return proven(
        Mad.DISCONNECT_DATA,
        data -> new DisconnectRequest(asking, localId, remoteId, remoteQueuePair, data));
  }

  DisconnectReply disconnected(DisconnectRequest request) {
    return proven(
        Mad.READY_DATA,
        data -> new DisconnectReply(request.transaction(), localId, remoteId, data));
  }

  /** Returns a REJ. With a lock, only a REJ of a REQ carries the program's private data. */
  Reject reject(Answered answered, int reason, long information, ByteBuffer privateData) {
    Function<ByteBuffer, Reject> message =
        data -> new Reject(transaction, localId, remoteId, answered, reason, information, data);
    if (handshake == null) {
      return message.apply(Mad.padded(privateData, Mad.REJECT_DATA));
    }
    return answered == Answered.REQUEST
        ? handshake.proveRefusal(privateData, message)
        : handshake.prove(Mad.REJECT_DATA, message);
  }

  /**
   * Returns a message without private data of the program, and with a proof if the connection has a
   * lock and keys.
   */
  private <M extends CmMessage> M proven(int length, Function<ByteBuffer, M> message) {
    return handshake == null ? message.apply(Mad.noData(length)) : handshake.prove(length, message);
  }

  // ---- received messages

  /**
   * Returns whether a message comes from the peer. True for a REP, whose proof the active end
   * checks.
   */
  boolean admits(CmMessage message) {
    boolean needsProof =
        message instanceof ReadyToUse
            || message instanceof Reject
            || message instanceof DisconnectRequest
            || message instanceof DisconnectReply;
    return handshake == null || !needsProof || handshake.admits(message);
  }

  /** Returns a REJ with the private data for the program. */
  Reject forProgram(Reject reject) {
    return handshake == null ? reject : handshake.forProgram(reject);
  }
}
