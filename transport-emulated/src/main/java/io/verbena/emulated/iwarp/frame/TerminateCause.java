// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

/**
 * Reasons for ending a stream (RFC 5040, section 4.8; RFC 5044, section 8; RFC 6581, section 8).
 */
public enum TerminateCause {
  /** A local fault of the sender. */
  LOCAL(0, 0, 0),
  REMOTE_INVALID_TAG(0, 1, 0x00),
  REMOTE_BOUNDS(0, 1, 0x01),
  REMOTE_ACCESS(0, 1, 0x02),
  REMOTE_TAG_OF_ANOTHER_STREAM(0, 1, 0x03),
  REMOTE_OFFSET_WRAPS(0, 1, 0x04),
  REMOTE_CANNOT_INVALIDATE(0, 1, 0x09),
  REMOTE_PROTECTION(0, 1, 0xff),
  RDMAP_VERSION(0, 2, 0x05),
  UNEXPECTED_OPCODE(0, 2, 0x06),
  /** Among others, more READs than the receiver serves at once. */
  STREAM_CATASTROPHE(0, 2, 0x07),
  GLOBAL_CATASTROPHE(0, 2, 0x08),
  CANNOT_INVALIDATE(0, 2, 0x09),
  UNSPECIFIED_OPERATION(0, 2, 0xff),
  DDP_LOCAL(1, 0, 0),
  TAGGED_INVALID_TAG(1, 1, 0x00),
  TAGGED_BOUNDS(1, 1, 0x01),
  TAGGED_TAG_OF_ANOTHER_STREAM(1, 1, 0x02),
  TAGGED_OFFSET_WRAPS(1, 1, 0x03),
  TAGGED_DDP_VERSION(1, 1, 0x04),
  UNTAGGED_QUEUE(1, 2, 0x01),
  UNTAGGED_NO_BUFFER(1, 2, 0x02),
  UNTAGGED_SEQUENCE(1, 2, 0x03),
  UNTAGGED_MESSAGE_OFFSET(1, 2, 0x04),
  UNTAGGED_TOO_LONG(1, 2, 0x05),
  UNTAGGED_DDP_VERSION(1, 2, 0x06),
  STREAM_CLOSED(2, 0, 0x01),
  CRC(2, 0, 0x02),
  MARKER(2, 0, 0x03),
  MPA_FRAME(2, 0, 0x04),
  MPA_LOCAL(2, 0, 0x05),
  READ_DEPTHS(2, 0, 0x06),
  READY_MESSAGE(2, 0, 0x07),
  /** An unknown code. */
  UNKNOWN(0xf, 0xf, 0xff);

  private static final TerminateCause[] ALL = values();

  final int layer;
  final int type;
  final int code;

  TerminateCause(int layer, int type, int code) {
    this.layer = layer;
    this.type = type;
    this.code = code;
  }

  /** Returns the cause of a layer, a type and a code, or {@link #UNKNOWN}. */
  static TerminateCause of(int layer, int type, int code) {
    for (TerminateCause cause : ALL) {
      if (cause.layer == layer && cause.type == type && cause.code == code) {
        return cause;
      }
    }
    return UNKNOWN;
  }
}
