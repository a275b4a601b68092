// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.Answered;
import io.verbena.emulated.cm.protocol.CmMessage.DisconnectReply;
import io.verbena.emulated.cm.protocol.CmMessage.DisconnectRequest;
import io.verbena.emulated.cm.protocol.CmMessage.ReadyToUse;
import io.verbena.emulated.cm.protocol.CmMessage.Receipt;
import io.verbena.emulated.cm.protocol.CmMessage.Reject;
import io.verbena.emulated.cm.protocol.CmMessage.Reply;
import io.verbena.emulated.cm.protocol.CmMessage.Request;
import io.verbena.emulated.cm.protocol.CmMessage.RequestLock;
import io.verbena.emulated.cm.protocol.CmMessage.ServiceReply;
import io.verbena.emulated.cm.protocol.CmMessage.ServiceRequest;
import io.verbena.emulated.cm.protocol.MadLayout.Dreq;
import io.verbena.emulated.cm.protocol.MadLayout.Mra;
import io.verbena.emulated.cm.protocol.MadLayout.Rej;
import io.verbena.emulated.cm.protocol.MadLayout.Rep;
import io.verbena.emulated.cm.protocol.MadLayout.Req;
import io.verbena.emulated.cm.protocol.MadLayout.SidrRep;
import io.verbena.emulated.cm.protocol.MadLayout.SidrReq;
import io.verbena.emulated.crypto.SecretProof;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Reads and writes the messages of the communication manager as bytes. */
public final class Mad {
  /** The number of bytes of every management datagram. */
  public static final int LENGTH = 256;

  /** The queue key of all management datagrams. */
  public static final int QUEUE_KEY = 0x8001_0000;

  /** Bytes of private data in a REQ, including those of {@link IpAddressing}. */
  public static final int REQUEST_DATA = LENGTH - Req.PRIVATE;

  /** Bytes of private data in a REP. */
  public static final int REPLY_DATA = LENGTH - Rep.PRIVATE;

  /** Bytes of private data in an RTU or a DREP. */
  public static final int READY_DATA = LENGTH - MadLayout.READY_PRIVATE;

  /** Bytes of private data in a REJ. */
  public static final int REJECT_DATA = LENGTH - Rej.PRIVATE;

  /** Bytes of private data in an MRA. */
  public static final int RECEIPT_DATA = LENGTH - Mra.PRIVATE;

  /** Bytes of private data in a DREQ. */
  public static final int DISCONNECT_DATA = LENGTH - Dreq.PRIVATE;

  /** Bytes of private data in a SIDR_REQ, including those of {@link IpAddressing}. */
  public static final int SERVICE_REQUEST_DATA = LENGTH - SidrReq.PRIVATE;

  /** Bytes of private data in a SIDR_REP. */
  public static final int SERVICE_REPLY_DATA = LENGTH - SidrRep.PRIVATE;

  /** The code of the longest time that an answer to a message takes: 4.3 s. */
  private static final int RESPONSE_TIMEOUT = 20;

  private static final int MOST_RETRIES = 15;
  private static final int PERMISSIVE_LID = 0xffff;
  private static final int HOPS = 64;
  private static final int MASK_24 = 0xff_ffff;

  private Mad() {}

  /** Checks the bytes from position to limit; never throws, whatever they are. */
  public static MadFault check(ByteBuffer mad) {
    if (mad.remaining() != LENGTH) {
      return MadFault.LENGTH;
    }
    int at = mad.position();
    if (mad.get(at + MadLayout.BASE_VERSION_OFFSET) != MadLayout.BASE_VERSION) {
      return MadFault.BASE_VERSION;
    }
    if (mad.get(at + MadLayout.CLASS_OFFSET) != MadLayout.CLASS) {
      return MadFault.CLASS;
    }
    if (mad.get(at + MadLayout.CLASS_VERSION_OFFSET) != MadLayout.CLASS_VERSION) {
      return MadFault.CLASS_VERSION;
    }
    if (mad.get(at + MadLayout.METHOD_OFFSET) != MadLayout.SEND) {
      return MadFault.METHOD;
    }
    int attribute = mad.getShort(at + MadLayout.ATTRIBUTE_OFFSET) & 0xffff;
    return attribute >= MadLayout.REQ && attribute <= MadLayout.SIDR_REP
        ? MadFault.NONE
        : MadFault.ATTRIBUTE;
  }

  /**
   * Reads a message.
   *
   * @param mad {@link #LENGTH} bytes from the position on, which {@link #check} found valid; not
   *     changed
   * @return the message, with a copy of the bytes
   */
  public static CmMessage read(ByteBuffer mad) {
    ByteBuffer m = ByteBuffer.allocate(LENGTH);
    m.put(0, mad, mad.position(), LENGTH);
    long transaction = m.getLong(MadLayout.TRANSACTION_OFFSET);
    int local = m.getInt(MadLayout.LOCAL_ID);
    int remote = m.getInt(MadLayout.REMOTE_ID);
    int attribute = m.getShort(MadLayout.ATTRIBUTE_OFFSET) & 0xffff;
    return switch (attribute) {
      case MadLayout.REQ -> request(m, transaction, local);
      case MadLayout.REP -> reply(m, transaction, local, remote);
      case MadLayout.RTU ->
          new ReadyToUse(transaction, local, remote, data(m, MadLayout.READY_PRIVATE));
      case MadLayout.REJ -> reject(m, transaction, local, remote);
      case MadLayout.MRA ->
          new Receipt(
              transaction,
              local,
              remote,
              answered(m, Mra.MESSAGE),
              (m.get(Mra.SERVICE_TIMEOUT) & 0xff) >>> 3,
              data(m, Mra.PRIVATE));
      case MadLayout.DREQ ->
          new DisconnectRequest(
              transaction, local, remote, get24(m, Dreq.QUEUE_PAIR), data(m, Dreq.PRIVATE));
      case MadLayout.DREP ->
          new DisconnectReply(transaction, local, remote, data(m, MadLayout.READY_PRIVATE));
      case MadLayout.SIDR_REQ ->
          new ServiceRequest(
              transaction,
              local,
              m.getShort(SidrReq.PARTITION_KEY) & 0xffff,
              m.getLong(SidrReq.SERVICE_ID),
              data(m, SidrReq.PRIVATE));
      case MadLayout.SIDR_REP ->
          new ServiceReply(
              transaction,
              local,
              m.get(SidrRep.STATUS) & 0xff,
              get24(m, SidrRep.QUEUE_PAIR),
              m.getLong(SidrRep.SERVICE_ID),
              m.getInt(SidrRep.QUEUE_KEY),
              data(m, SidrRep.PRIVATE));
      default -> throw new IllegalArgumentException("attribute: " + attribute);
    };
  }

  private static Reject reject(ByteBuffer m, long transaction, int local, int remote) {
    int reason = m.getShort(Rej.REASON) & 0xffff;
    return new Reject(
        transaction,
        local,
        remote,
        answered(m, Rej.MESSAGE),
        reason,
        information(m, reason),
        data(m, Rej.PRIVATE));
  }

  private static long information(ByteBuffer m, int reason) {
    int length = (m.get(Rej.INFO_LENGTH) & 0xff) >>> 1;
    return switch (reason) {
      case CmReason.TIMEOUT -> length >= Long.BYTES ? m.getLong(Rej.INFO) : 0;
      case CmReason.INVALID_MTU -> length >= Byte.BYTES ? mtu(m.get(Rej.INFO) & 0xff) : 0;
      default -> 0;
    };
  }

  /**
   * Returns the MTU code in the upper half of the byte, as in a REQ, or in the lower half, where
   * some senders write it.
   */
  private static int mtu(int information) {
    int upper = information >>> 4;
    return upper == 0 ? information : upper;
  }

  private static void write(Reject reject, ByteBuffer mad) {
    attribute(mad, MadLayout.REJ)
        .put(Rej.MESSAGE, answered(reject.rejected()))
        .putShort(Rej.REASON, (short) reject.reason());
    if (reject.information() != 0) {
      switch (reject.reason()) {
        case CmReason.TIMEOUT ->
            mad.put(Rej.INFO_LENGTH, (byte) (Long.BYTES << 1))
                .putLong(Rej.INFO, reject.information());
        case CmReason.INVALID_MTU ->
            mad.put(Rej.INFO_LENGTH, (byte) (Byte.BYTES << 1))
                .put(Rej.INFO, (byte) (reject.information() << 4));
        default -> {}
      }
    }
    data(mad, Rej.PRIVATE, reject.privateData());
  }

  private static Request request(ByteBuffer m, long transaction, int local) {
    return new Request(
        transaction,
        local,
        m.getLong(Req.SERVICE_ID),
        m.getLong(Req.GUID),
        get24(m, Req.QUEUE_PAIR),
        m.get(Req.RESPONDER_RESOURCES) & 0xff,
        m.get(Req.INITIATOR_DEPTH) & 0xff,
        m.get(Req.REMOTE_TIMEOUT) >>> 1 & 3,
        get24(m, Req.PSN),
        m.get(Req.LOCAL_TIMEOUT) & 7,
        m.getShort(Req.PARTITION_KEY) & 0xffff,
        (m.get(Req.MTU) & 0xff) >>> 4,
        m.get(Req.MTU) & 7,
        gid(m, Req.SOURCE),
        gid(m, Req.DESTINATION),
        (m.get(Req.ACK_TIMEOUT) & 0xff) >>> 3,
        data(m, Req.PRIVATE),
        lock(m));
  }

  /** Reads the lock; returns null if there is none or the request has an alternate path. */
  private static @Nullable RequestLock lock(ByteBuffer m) {
    int version = m.get(Req.LOCK_VERSION) & 0xff;
    return version == 0 || m.getInt(Req.ALTERNATE_LIDS) != 0
        ? null
        : new RequestLock(
            version,
            m.get(Req.LOCK_SUITE) & 0xff,
            m.slice(Req.LOCK_NONCE, CmKeyHandshake.NONCE).asReadOnlyBuffer(),
            m.slice(Req.LOCK_PROOF, SecretProof.LENGTH).asReadOnlyBuffer());
  }

  private static Reply reply(ByteBuffer m, long transaction, int local, int remote) {
    return new Reply(
        transaction,
        local,
        remote,
        get24(m, Rep.QUEUE_PAIR),
        get24(m, Rep.PSN),
        m.get(Rep.RESPONDER_RESOURCES) & 0xff,
        m.get(Rep.INITIATOR_DEPTH) & 0xff,
        (m.get(Rep.RNR_RETRY) & 0xff) >>> 5,
        m.getLong(Rep.GUID),
        data(m, Rep.PRIVATE));
  }

  /**
   * Writes a message.
   *
   * @param mad receives {@link #LENGTH} bytes from index 0 on; its position does not change
   */
  public static void write(CmMessage message, ByteBuffer mad) {
    for (int i = 0; i < LENGTH; i += Long.BYTES) {
      mad.putLong(i, 0);
    }
    mad.put(MadLayout.BASE_VERSION_OFFSET, (byte) MadLayout.BASE_VERSION)
        .put(MadLayout.CLASS_OFFSET, (byte) MadLayout.CLASS)
        .put(MadLayout.CLASS_VERSION_OFFSET, (byte) MadLayout.CLASS_VERSION)
        .put(MadLayout.METHOD_OFFSET, (byte) MadLayout.SEND)
        .putLong(MadLayout.TRANSACTION_OFFSET, message.transaction())
        .putInt(MadLayout.LOCAL_ID, message.localId());
    if (message instanceof Request request) {
      write(request, mad);
      return;
    }
    if (message instanceof ServiceRequest service) {
      attribute(mad, MadLayout.SIDR_REQ)
          .putShort(SidrReq.PARTITION_KEY, (short) service.partitionKey())
          .putLong(SidrReq.SERVICE_ID, service.serviceId());
      data(mad, SidrReq.PRIVATE, service.privateData());
      return;
    }
    if (message instanceof ServiceReply service) {
      attribute(mad, MadLayout.SIDR_REP)
          .putInt(MadLayout.LOCAL_ID, service.remoteId())
          .put(SidrRep.STATUS, (byte) service.status())
          .putLong(SidrRep.SERVICE_ID, service.serviceId())
          .putInt(SidrRep.QUEUE_KEY, service.queueKey());
      put24(mad, SidrRep.QUEUE_PAIR, service.queuePair());
      data(mad, SidrRep.PRIVATE, service.privateData());
      return;
    }
    mad.putInt(MadLayout.REMOTE_ID, message.remoteId());
    if (message instanceof Reply reply) {
      write(reply, mad);
    } else if (message instanceof ReadyToUse ready) {
      attribute(mad, MadLayout.RTU);
      data(mad, MadLayout.READY_PRIVATE, ready.privateData());
    } else if (message instanceof Reject reject) {
      write(reject, mad);
    } else if (message instanceof Receipt receipt) {
      attribute(mad, MadLayout.MRA)
          .put(Mra.MESSAGE, answered(receipt.received()))
          .put(Mra.SERVICE_TIMEOUT, (byte) (receipt.serviceTimeout() << 3));
      data(mad, Mra.PRIVATE, receipt.privateData());
    } else if (message instanceof DisconnectRequest disconnect) {
      put24(attribute(mad, MadLayout.DREQ), Dreq.QUEUE_PAIR, disconnect.queuePair());
      data(mad, Dreq.PRIVATE, disconnect.privateData());
    } else if (message instanceof DisconnectReply disconnected) {
      attribute(mad, MadLayout.DREP);
      data(mad, MadLayout.READY_PRIVATE, disconnected.privateData());
    }
  }

  private static void write(Request request, ByteBuffer mad) {
    attribute(mad, MadLayout.REQ)
        .putLong(Req.SERVICE_ID, request.serviceId())
        .putLong(Req.GUID, request.guid())
        .put(Req.RESPONDER_RESOURCES, (byte) request.responderResources())
        .put(Req.INITIATOR_DEPTH, (byte) request.initiatorDepth())
        .put(Req.REMOTE_TIMEOUT, (byte) (RESPONSE_TIMEOUT << 3 | request.transport() << 1))
        .put(Req.LOCAL_TIMEOUT, (byte) (RESPONSE_TIMEOUT << 3 | request.retryCount()))
        .putShort(Req.PARTITION_KEY, (short) request.partitionKey())
        .put(Req.MTU, (byte) (request.pathMtu() << 4 | request.rnrRetry()))
        .put(Req.MAX_RETRIES, (byte) (MOST_RETRIES << 4))
        .putInt(Req.LIDS, PERMISSIVE_LID << Short.SIZE | PERMISSIVE_LID)
        .put(Req.HOP_LIMIT, (byte) HOPS)
        .put(Req.SUBNET_LOCAL, (byte) 0)
        .put(Req.ACK_TIMEOUT, (byte) (request.ackTimeout() << 3));
    put24(mad, Req.QUEUE_PAIR, request.queuePair());
    put24(mad, Req.PSN, request.startingPsn());
    gid(mad, Req.SOURCE, request.source());
    gid(mad, Req.DESTINATION, request.destination());
    data(mad, Req.PRIVATE, request.privateData());
    RequestLock lock = request.lock();
    if (lock != null) {
      mad.put(Req.LOCK_VERSION, (byte) lock.version())
          .put(Req.LOCK_SUITE, (byte) lock.suite())
          .put(Req.LOCK_NONCE, lock.nonce(), 0, CmKeyHandshake.NONCE)
          .put(Req.LOCK_PROOF, lock.proof(), 0, SecretProof.LENGTH);
    }
  }

  private static void write(Reply reply, ByteBuffer mad) {
    attribute(mad, MadLayout.REP)
        .put(Rep.RESPONDER_RESOURCES, (byte) reply.responderResources())
        .put(Rep.INITIATOR_DEPTH, (byte) reply.initiatorDepth())
        .put(Rep.RNR_RETRY, (byte) (reply.rnrRetry() << 5))
        .putLong(Rep.GUID, reply.guid());
    put24(mad, Rep.QUEUE_PAIR, reply.queuePair());
    put24(mad, Rep.PSN, reply.startingPsn());
    data(mad, Rep.PRIVATE, reply.privateData());
  }

  private static ByteBuffer attribute(ByteBuffer mad, int attribute) {
    return mad.putShort(MadLayout.ATTRIBUTE_OFFSET, (short) attribute);
  }

  private static Answered answered(ByteBuffer m, int at) {
    return switch ((m.get(at) & 0xff) >>> 6) {
      case 0 -> Answered.REQUEST;
      case 1 -> Answered.REPLY;
      case 2 -> Answered.OTHER;
      default -> Answered.UNKNOWN;
    };
  }

  private static byte answered(Answered what) {
    int code =
        switch (what) {
          case REQUEST -> 0;
          case REPLY -> 1;
          case OTHER -> 2;
          case UNKNOWN -> 3;
        };
    return (byte) (code << 6);
  }

  private static int get24(ByteBuffer m, int at) {
    return m.getInt(at) >>> Byte.SIZE;
  }

  /** Writes three bytes; keeps the byte after them. */
  private static void put24(ByteBuffer m, int at, int value) {
    m.putInt(at, (value & MASK_24) << Byte.SIZE | (m.get(at + 3) & 0xff));
  }

  private static Gid gid(ByteBuffer m, int at) {
    return new Gid(m.getLong(at), m.getLong(at + Long.BYTES));
  }

  private static void gid(ByteBuffer m, int at, Gid gid) {
    m.putLong(at, gid.high()).putLong(at + Long.BYTES, gid.low());
  }

  private static ByteBuffer data(ByteBuffer m, int from) {
    return m.slice(from, LENGTH - from).asReadOnlyBuffer();
  }

  private static void data(ByteBuffer m, int from, ByteBuffer data) {
    m.put(from, data, data.position(), Math.min(data.remaining(), LENGTH - from));
  }

  /** Returns private data of zeros. */
  static ByteBuffer noData(int length) {
    return ByteBuffer.allocate(length).asReadOnlyBuffer();
  }

  /** Returns private data for a message: these bytes, padded with zeros to a length. */
  public static ByteBuffer padded(ByteBuffer data, int length) {
    ByteBuffer padded = ByteBuffer.allocate(length);
    padded.put(0, data, data.position(), data.remaining());
    return padded.asReadOnlyBuffer();
  }
}
