// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A message of the communication manager. Private data is read-only, fills its field in the
 * message, and ends with zeros. Numbers have the codes of the wire. Fields that RoCE does not use
 * (LIDs, alternate paths, end-to-end contexts) are left out.
 */
public sealed interface CmMessage {

  /** Returns the transaction id, which a message shares with its answer. */
  long transaction();

  /** Returns the sender's id of the connection; 0 if it has none. */
  int localId();

  /** Returns the receiver's id of the connection; 0 if the sender does not know it. */
  int remoteId();

  /**
   * REQ: asks for a connection.
   *
   * @param serviceId the requested service, see {@link ServiceId}
   * @param guid the GUID of the sender's HCA
   * @param queuePair the sender's queue pair
   * @param responderResources READs and atomics that the sender serves at once
   * @param initiatorDepth READs and atomics that the sender has outstanding at once
   * @param transport 0 for RC
   * @param startingPsn the first PSN that the <em>receiver</em> of the message has to send
   * @param retryCount retries after a timeout, for both ends
   * @param partitionKey the partition
   * @param pathMtu the path MTU, as in {@code enum ibv_mtu}
   * @param rnrRetry retries after an RNR NAK, for the receiver of the message
   * @param source the sender's GID
   * @param destination the receiver's GID
   * @param ackTimeout the code of the time within which a packet is answered
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
   * @param version the version of the lock protocol; not 0
   * @param suite the cipher that seals packets
   * @param nonce a random number that the sender has chosen
   * @param proof the proof that the sender has the key
   */
  record RequestLock(int version, int suite, ByteBuffer nonce, ByteBuffer proof) {

    RequestLock with(byte[] other) {
      return new RequestLock(version, suite, nonce, ByteBuffer.wrap(other).asReadOnlyBuffer());
    }
  }

  /**
   * REP: accepts a connection.
   *
   * @param queuePair the sender's queue pair
   * @param startingPsn the first PSN that the receiver of the message has to send
   * @param responderResources READs and atomics that the sender serves at once
   * @param initiatorDepth READs and atomics that the sender has outstanding at once
   * @param rnrRetry retries after an RNR NAK, for the receiver of the message
   * @param guid the GUID of the sender's HCA
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
   * REJ: ends a connection that is not established.
   *
   * @param rejected the kind of message that is rejected
   * @param reason see {@link CmReason}
   * @param information additional information: for a timeout the GUID of the sender's HCA, for an
   *     invalid MTU the largest MTU that the sender accepts, as in {@code enum ibv_mtu}; else, or
   *     if there is none, 0
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
   * MRA: the message was received, and its answer takes a while.
   *
   * @param received the kind of message that was received
   * @param serviceTimeout the code of the time that the answer may take: 4.096 us times 2 to the
   *     power of the code
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
   * @param localId the id of the request, which the reply repeats
   * @param partitionKey the partition
   * @param serviceId the requested service
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
   * SIDR_REP: names the queue pair that serves datagrams.
   *
   * @param remoteId the id of the request
   * @param status {@link #NAMED}, or the reason why no queue pair is named
   * @param queuePair the queue pair for datagrams
   * @param serviceId the service of the request
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

    /** {@link #status}: the service has no listener for datagrams. */
    public static final int UNSUPPORTED = 1;

    /** {@link #status}: the serving program rejects the request. */
    public static final int REJECTED = 2;

    @Override
    public int localId() {
      return 0;
    }
  }

  /** The kinds of messages that a REJ rejects or an MRA confirms, in the order of their codes. */
  enum Answered {
    REQUEST,
    REPLY,
    OTHER,
    UNKNOWN
  }
}
