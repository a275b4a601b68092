// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

/**
 * An FPDU (RFC 5044, section 4) with the headers of DDP (RFC 5041, section 4) and RDMAP (RFC 5040,
 * section 4.1): offsets from its start.
 *
 * <pre>
 *  length 2 | control 1 | operation 1 | tagged:   STag 4 | TO 8
 *                                     | untagged: STag to invalidate 4 | QN 4 | MSN 4 | MO 4
 *  payload | pad 0 to 3 | CRC 4, little-endian
 * </pre>
 */
public final class FpduLayout {
  /** The length of DDP header, RDMAP header and payload. */
  static final int LENGTH_OFFSET = 0;

  static final int LENGTH_LENGTH = 2;
  static final int CONTROL_OFFSET = LENGTH_OFFSET + LENGTH_LENGTH;
  static final int OPERATION_OFFSET = CONTROL_OFFSET + 1;

  static final int TAG_OFFSET = OPERATION_OFFSET + 1;
  static final int TAGGED_OFFSET_OFFSET = TAG_OFFSET + 4;
  static final int TAGGED_END = TAGGED_OFFSET_OFFSET + 8;

  static final int INVALIDATED_OFFSET = OPERATION_OFFSET + 1;
  static final int QUEUE_OFFSET = INVALIDATED_OFFSET + 4;
  static final int SEQUENCE_OFFSET = QUEUE_OFFSET + 4;
  static final int MESSAGE_OFFSET_OFFSET = SEQUENCE_OFFSET + 4;
  static final int UNTAGGED_END = MESSAGE_OFFSET_OFFSET + 4;

  static final int TAGGED = 0x80;
  static final int LAST = 0x40;
  static final int DDP_VERSION_MASK = 0x03;
  static final int DDP_VERSION = 0x01;

  static final int RDMAP_VERSION_MASK = 0xc0;
  static final int RDMAP_VERSION = 0x40;
  static final int OPCODE_MASK = 0x0f;

  static final int ALIGNMENT = 4;
  public static final int CRC_LENGTH = 4;

  /** The payload of a READ request (RFC 5040, section 4.4), offsets from its start. */
  static final int SINK_TAG_OFFSET = 0;

  static final int SINK_OFFSET_OFFSET = 4;
  static final int READ_LENGTH_OFFSET = 12;
  static final int SOURCE_TAG_OFFSET = 16;
  static final int SOURCE_OFFSET_OFFSET = 20;

  /** The bytes of the payload of a READ request. */
  public static final int READ_REQUEST_LENGTH = 28;

  /** The payload of an atomic request (RFC 7306, section 5.2.1), offsets from its start. */
  static final int ATOMIC_OPERATION_OFFSET = 0;

  static final int ATOMIC_IDENTIFIER_OFFSET = 4;
  static final int ATOMIC_TAG_OFFSET = 8;
  static final int ATOMIC_OFFSET_OFFSET = 12;
  static final int ATOMIC_DATA_OFFSET = 20;
  static final int ATOMIC_MASK_OFFSET = 28;
  static final int ATOMIC_COMPARE_OFFSET = 36;
  static final int ATOMIC_COMPARE_MASK_OFFSET = 44;

  /** The bytes of the payload of an atomic request. */
  public static final int ATOMIC_REQUEST_LENGTH = 52;

  /** The payload of an atomic response (RFC 7306, section 5.2.2), offsets from its start. */
  static final int RESPONSE_IDENTIFIER_OFFSET = 0;

  static final int RESPONSE_ORIGINAL_OFFSET = 4;

  /** The bytes of the payload of an atomic response. */
  public static final int ATOMIC_RESPONSE_LENGTH = 12;

  /** The bytes of immediate data (RFC 7306, section 6.2). */
  public static final int IMMEDIATE_LENGTH = 8;

  /** The longest header, with the length of the FPDU. */
  public static final int MAX_HEADER = UNTAGGED_END;

  /** The longest pad, with the CRC. */
  public static final int MAX_TRAILER = ALIGNMENT - 1 + CRC_LENGTH;

  /** The most payload of an untagged FPDU, which has the longer header. */
  public static final int MAX_PAYLOAD = 0xffff - (UNTAGGED_END - LENGTH_LENGTH);

  private FpduLayout() {}

  /** Returns the length of the pad behind {@code bytes} bytes from the FPDU's start on. */
  public static int pad(int bytes) {
    return -bytes & ALIGNMENT - 1;
  }
}
