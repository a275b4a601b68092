// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

/**
 * A management datagram of the communication manager: offsets in bytes from its start, and the
 * attributes of the messages (IBTA volume 1, MAD base format and CM messages). Numbers in comments
 * are lengths in bits.
 */
final class MadLayout {
  static final int BASE_VERSION_OFFSET = 0;
  static final int CLASS_OFFSET = 1;
  static final int CLASS_VERSION_OFFSET = 2;
  static final int METHOD_OFFSET = 3;
  static final int TRANSACTION_OFFSET = 8;
  static final int ATTRIBUTE_OFFSET = 16;
  static final int DATA = 24;

  static final int BASE_VERSION = 1;
  static final int CLASS = 7;
  static final int CLASS_VERSION = 2;
  static final int SEND = 3;

  static final int REQ = 0x10;
  static final int MRA = 0x11;
  static final int REJ = 0x12;
  static final int REP = 0x13;
  static final int RTU = 0x14;
  static final int DREQ = 0x15;
  static final int DREP = 0x16;
  static final int SIDR_REQ = 0x17;
  static final int SIDR_REP = 0x18;

  /** All messages begin with one or both ids. */
  static final int LOCAL_ID = DATA;

  static final int REMOTE_ID = DATA + 4;

  /** REQ. */
  static final class Req {
    static final int SERVICE_ID = DATA + 8;
    static final int GUID = DATA + 16;
    static final int QUEUE_PAIR = DATA + 32;
    static final int RESPONDER_RESOURCES = DATA + 35;
    static final int INITIATOR_DEPTH = DATA + 39;

    /** Remote response timeout 5, transport 2, flow control 1. */
    static final int REMOTE_TIMEOUT = DATA + 43;

    static final int PSN = DATA + 44;

    /** Local response timeout 5, retry count 3. */
    static final int LOCAL_TIMEOUT = DATA + 47;

    static final int PARTITION_KEY = DATA + 48;

    /** Path MTU 4, RDC 1, RNR retry 3. */
    static final int MTU = DATA + 50;

    /** Retries of messages 4, shared receives 1, reserved 3. */
    static final int MAX_RETRIES = DATA + 51;

    static final int LIDS = DATA + 52;
    static final int SOURCE = DATA + 56;
    static final int DESTINATION = DATA + 72;
    static final int HOP_LIMIT = DATA + 93;
    static final int SUBNET_LOCAL = DATA + 94;

    /** Timeout 5, reserved 3. */
    static final int ACK_TIMEOUT = DATA + 95;

    /** The LIDs of the alternate path; 0 if there is none. */
    static final int ALTERNATE_LIDS = DATA + 96;

    /**
     * The lock uses the fields of the missing alternate path: its GIDs and the fields after them.
     */
    static final int LOCK_NONCE = DATA + 100;

    static final int LOCK_PROOF = DATA + 116;
    static final int LOCK_VERSION = DATA + 132;
    static final int LOCK_SUITE = DATA + 133;

    static final int PRIVATE = DATA + 140;

    private Req() {}
  }

  /** REP. */
  static final class Rep {
    static final int QUEUE_PAIR = DATA + 12;
    static final int PSN = DATA + 20;
    static final int RESPONDER_RESOURCES = DATA + 24;
    static final int INITIATOR_DEPTH = DATA + 25;

    /** RNR retry 3, shared receives 1, reserved 4. */
    static final int RNR_RETRY = DATA + 27;

    static final int GUID = DATA + 28;
    static final int PRIVATE = DATA + 36;

    /** The lock is at the end of the private data, and its proof comes last. */
    static final int LOCK_VERSION = DATA + 196;

    static final int LOCK_NONCE = DATA + 200;

    private Rep() {}
  }

  /** REJ. */
  static final class Rej {
    /** Message 2, reserved 6. */
    static final int MESSAGE = DATA + 8;

    /** Length 7, reserved 1. */
    static final int INFO_LENGTH = DATA + 9;

    static final int REASON = DATA + 10;
    static final int INFO = DATA + 12;
    static final int PRIVATE = DATA + 84;

    private Rej() {}
  }

  /** MRA. */
  static final class Mra {
    /** Message 2, reserved 6. */
    static final int MESSAGE = DATA + 8;

    /** Timeout 5, reserved 3. */
    static final int SERVICE_TIMEOUT = DATA + 9;

    static final int PRIVATE = DATA + 10;

    private Mra() {}
  }

  /** RTU and DREP. */
  static final int READY_PRIVATE = DATA + 8;

  /** DREQ. */
  static final class Dreq {
    static final int QUEUE_PAIR = DATA + 8;
    static final int PRIVATE = DATA + 12;

    private Dreq() {}
  }

  /** SIDR_REQ. */
  static final class SidrReq {
    static final int PARTITION_KEY = DATA + 4;
    static final int SERVICE_ID = DATA + 8;
    static final int PRIVATE = DATA + 16;

    private SidrReq() {}
  }

  /** SIDR_REP. */
  static final class SidrRep {
    static final int STATUS = DATA + 4;
    static final int QUEUE_PAIR = DATA + 8;
    static final int SERVICE_ID = DATA + 12;
    static final int QUEUE_KEY = DATA + 20;
    static final int PRIVATE = DATA + 96;

    private SidrRep() {}
  }

  private MadLayout() {}
}
