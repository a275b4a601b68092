// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A message of the communication manager. Private data is read-only, and as long as the message has
 * room for: what is behind the sender's bytes is 0. Numbers are those of the wire; what is not of
 * use on RoCE (LIDs, alternate paths, end-to-end contexts) is not here.
 */
public sealed interface CmMessage {

  /** Pairs a message with the one that it answers. */
  long transaction();

  /** What the sender of a message calls the connection; 0 if it has no name for it. */
  int localId();

  /** What the receiver of a message calls it; 0 if the sender does not know. */
  int remoteId();

  /**
   * REQ: asks for a connection.
   *
   * @param serviceId who is asked, see {@link ServiceId}
   * @param guid the sender's HCA
   * @param queuePair the sender's queue pair
   * @param responderResources READs and atomics that the sender serves at once
   * @param initiatorDepth READs and atomics that the sender has outstanding at once
   * @param transport 0 for RC
   * @param startingPsn what the <em>receiver</em> is to send with first
   * @param retryCount retries after a timeout, for both
   * @param partitionKey the partition
   * @param pathMtu as in {@code enum ibv_mtu}
   * @param rnrRetry retries after an RNR NAK, for the receiver
   * @param source the sender's GID
   * @param destination the receiver's GID
   * @param ackTimeout how long an answer to a packet takes, as code
   * @param privateData {@link Mad#REQUEST_DATA} bytes
   * @param lock what shows that the sender has a key, or null
   */
  record Request(
      long transaction,
      int localId,
      long serviceId,
      long guid,
      int queuePair,
      int responderResources,
      int initiatorDepth,
      int transport,
      int startingPsn,
      int retryCount,
      int partitionKey,
      int pathMtu,
      int rnrRetry,
      Gid source,
      Gid destination,
      int ackTimeout,
      ByteBuffer privateData,
      @Nullable RequestLock lock)
      implements CmMessage {

    /** The same with a lock, or without. */
    Request with(@Nullable RequestLock other) {
      return new Request(
          transaction,
          localId,
          serviceId,
          guid,
          queuePair,
          responderResources,
          initiatorDepth,
          transport,
          startingPsn,
          retryCount,
          partitionKey,
          pathMtu,
          rnrRetry,
          source,
          destination,
          ackTimeout,
          privateData,
          other);
    }

    @Override
    public int remoteId() {
      return 0;
    }
  }

  /**
   * What a REQ for a locked connection has in addition.
   *
   * @param version of the lock; not 0
   * @param suite what packets are sealed with
   * @param nonce a random number of the sender
   * @param proof that the sender has the key
   */
  record RequestLock(int version, int suite, ByteBuffer nonce, ByteBuffer proof) {

    RequestLock with(byte[] other) {
      return new RequestLock(version, suite, nonce, ByteBuffer.wrap(other).asReadOnlyBuffer());
    }
  }

  /**
   * REP: accepts.
   *
   * @param queuePair the sender's queue pair
   * @param startingPsn what the receiver is to send with first
   * @param responderResources READs and atomics that the sender serves at once
   * @param initiatorDepth READs and atomics that the sender has outstanding at once
   * @param rnrRetry retries after an RNR NAK, for the receiver
   * @param guid the sender's HCA
   * @param privateData {@link Mad#REPLY_DATA} bytes
   */
  record Reply(
      long transaction,
      int localId,
      int remoteId,
      int queuePair,
      int startingPsn,
      int responderResources,
      int initiatorDepth,
      int rnrRetry,
      long guid,
      ByteBuffer privateData)
      implements CmMessage {

    Reply with(ByteBuffer other) {
      return new Reply(
          transaction,
          localId,
          remoteId,
          queuePair,
          startingPsn,
          responderResources,
          initiatorDepth,
          rnrRetry,
          guid,
          other);
    }
  }

  /**
   * RTU: the sender is ready to use the connection.
   *
   * @param privateData {@link Mad#READY_DATA} bytes
   */
  record ReadyToUse(long transaction, int localId, int remoteId, ByteBuffer privateData)
      implements CmMessage {}

  /**
   * REJ: ends what was not established.
   *
   * @param rejected what kind of message is refused
   * @param reason see {@link CmReason}
   * @param information what the reason says more: of a timeout the sender's HCA, of an invalid MTU
   *     the largest that the sender takes, as in {@code enum ibv_mtu}; else, or if it does not say,
   *     0
   * @param privateData {@link Mad#REJECT_DATA} bytes
   */
  record Reject(
      long transaction,
      int localId,
      int remoteId,
      Answered rejected,
      int reason,
      long information,
      ByteBuffer privateData)
      implements CmMessage {

    Reject with(ByteBuffer other) {
      return new Reject(transaction, localId, remoteId, rejected, reason, information, other);
    }
  }

  /**
   * MRA: the message has come, the answer takes a while.
   *
   * @param received what kind of message has come
   * @param serviceTimeout how long it may take, as code: 4.096 us times 2 to the power of it
   * @param privateData {@link Mad#RECEIPT_DATA} bytes
   */
  record Receipt(
      long transaction,
      int localId,
      int remoteId,
      Answered received,
      int serviceTimeout,
      ByteBuffer privateData)
      implements CmMessage {}

  /**
   * DREQ: asks to end the connection.
   *
   * @param queuePair the receiver's queue pair
   * @param privateData {@link Mad#DISCONNECT_DATA} bytes
   */
  record DisconnectRequest(
      long transaction, int localId, int remoteId, int queuePair, ByteBuffer privateData)
      implements CmMessage {}

  /**
   * DREP: it is ended.
   *
   * @param privateData {@link Mad#READY_DATA} bytes
   */
  record DisconnectReply(long transaction, int localId, int remoteId, ByteBuffer privateData)
      implements CmMessage {}

  /**
   * SIDR_REQ: asks for the queue pair that serves datagrams.
   *
   * @param localId pairs request and reply
   * @param partitionKey the partition
   * @param serviceId who is asked
   * @param privateData {@link Mad#SERVICE_REQUEST_DATA} bytes
   */
  record ServiceRequest(
      long transaction, int localId, int partitionKey, long serviceId, ByteBuffer privateData)
      implements CmMessage {

    @Override
    public int remoteId() {
      return 0;
    }
  }

  /**
   * SIDR_REP: names it.
   *
   * @param remoteId the request's
   * @param status {@link #NAMED}, or why there is none
   * @param queuePair where datagrams go
   * @param serviceId who was asked
   * @param queueKey what datagrams carry
   * @param privateData {@link Mad#SERVICE_REPLY_DATA} bytes
   */
  record ServiceReply(
      long transaction,
      int remoteId,
      int status,
      int queuePair,
      long serviceId,
      int queueKey,
      ByteBuffer privateData)
      implements CmMessage {
    /** {@link #status}: a queue pair is named. */
    public static final int NAMED = 0;

    /** {@link #status}: nobody serves it. */
    public static final int UNSUPPORTED = 1;

    /** {@link #status}: who serves it refuses. */
    public static final int REJECTED = 2;

    @Override
    public int localId() {
      return 0;
    }
  }

  /** What kind of message a REJ refuses or an MRA confirms; in the order of their numbers. */
  enum Answered {
    REQUEST,
    REPLY,
    OTHER,
    UNKNOWN
  }
}
