// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A message of the communication manager. Private data is read-only and as long as its field in the
 * message: bytes behind the sender's are 0. Numbers are those of the wire; fields that RoCE does
 * not use (LIDs, alternate paths, end-to-end contexts) are left out.
 */
public sealed interface CmMessage {

  /** Returns the transaction, which pairs a message with the one that it answers. */
  long transaction();

  /** Returns the sender's id of the connection; 0 if it has none. */
  int localId();

  /** Returns the receiver's id of the connection; 0 if the sender does not know it. */
  int remoteId();

  /**
   * REQ: asks for a connection.
   *
   * @param serviceId the service that is asked, see {@link ServiceId}
   * @param guid the sender's HCA
   * @param queuePair the sender's queue pair
   * @param responderResources READs and atomics that the sender serves at once
   * @param initiatorDepth READs and atomics that the sender has outstanding at once
   * @param transport 0 for RC
   * @param startingPsn the first PSN that the <em>receiver</em> is to send
   * @param retryCount retries after a timeout, for both
   * @param partitionKey the partition
   * @param pathMtu the path MTU, as in {@code enum ibv_mtu}
   * @param rnrRetry retries after an RNR NAK, for the receiver
   * @param source the sender's GID
   * @param destination the receiver's GID
   * @param ackTimeout the time that an answer to a packet takes, as code
   * @param privateData {@link Mad#REQUEST_DATA} bytes
   * @param lock the proof that the sender has a key, or null
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

    /** Returns the same request with another lock, or with none. */
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
   * The additional fields of a REQ for a locked connection.
   *
   * @param version the version of the lock; not 0
   * @param suite the cipher that seals packets
   * @param nonce a random number of the sender's
   * @param proof the proof that the sender has the key
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
   * @param startingPsn the first PSN that the receiver is to send
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
   * REJ: ends a connection that was not established.
   *
   * @param rejected the kind of message that is refused
   * @param reason see {@link CmReason}
   * @param information more about the reason: for a timeout the sender's HCA, for an invalid MTU
   *     the largest that the sender takes, as in {@code enum ibv_mtu}; else, or if there is none, 0
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
   * MRA: the message has come, and its answer takes a while.
   *
   * @param received the kind of message that has come
   * @param serviceTimeout the time that the answer may take, as code: 4.096 us times 2 to the power
   *     of it
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
   * DREP: confirms that the connection is ended.
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
   * @param serviceId the service that is asked
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
   * SIDR_REP: names that queue pair.
   *
   * @param remoteId the request's id
   * @param status {@link #NAMED}, or the reason why there is none
   * @param queuePair the queue pair for datagrams
   * @param serviceId the service that was asked
   * @param queueKey the queue key for datagrams
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

    /** {@link #status}: nobody serves datagrams there. */
    public static final int UNSUPPORTED = 1;

    /** {@link #status}: the serving program refuses. */
    public static final int REJECTED = 2;

    @Override
    public int localId() {
      return 0;
    }
  }

  /** The kinds of messages that a REJ refuses or an MRA confirms, in the order of their numbers. */
  enum Answered {
    REQUEST,
    REPLY,
    OTHER,
    UNKNOWN
  }
}
