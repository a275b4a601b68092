// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

import java.nio.ByteBuffer;

/**
 * The DDP and RDMAP headers of one FPDU, read from bytes or to be written. Reusable, so that
 * nothing is allocated. Not thread-safe. Bytes are in network order.
 */
public final class FpduHeader {
  private static final int BYTE = 0xff;
  private static final int SHORT = 0xffff;

  private RdmapOpcode opcode = RdmapOpcode.SEND;
  private boolean last;
  private int tag;
  private long taggedOffset;
  private int queue;
  private int sequence;
  private int messageOffset;
  private int payloadLength;

  /** The number of bytes that {@link #length} needs. */
  public static final int LEAST = FpduLayout.OPERATION_OFFSET + 1;

  /** Returns the length of the header that begins with these bytes, at least {@link #LEAST}. */
  public static int length(ByteBuffer bytes, int at) {
    return (bytes.get(at + FpduLayout.CONTROL_OFFSET) & FpduLayout.TAGGED) != 0
        ? FpduLayout.TAGGED_END
        : FpduLayout.UNTAGGED_END;
  }

  /** Reads a header, whose {@link #length} bytes must have come; returns its first fault. */
  public FpduFault parse(ByteBuffer bytes, int at) {
    int control = bytes.get(at + FpduLayout.CONTROL_OFFSET);
    int operation = bytes.get(at + FpduLayout.OPERATION_OFFSET) & BYTE;
    boolean tagged = (control & FpduLayout.TAGGED) != 0;
    last = (control & FpduLayout.LAST) != 0;
    payloadLength = (bytes.getShort(at) & SHORT) + FpduLayout.LENGTH_LENGTH - length(bytes, at);
    if (payloadLength < 0) {
      return FpduFault.TOO_SHORT;
    }
    if ((control & FpduLayout.DDP_VERSION_MASK) != FpduLayout.DDP_VERSION) {
      return tagged ? FpduFault.TAGGED_VERSION : FpduFault.UNTAGGED_VERSION;
    }
    if ((operation & FpduLayout.RDMAP_VERSION_MASK) != FpduLayout.RDMAP_VERSION) {
      return FpduFault.RDMAP_VERSION;
    }
    RdmapOpcode known = RdmapOpcode.of(operation & FpduLayout.OPCODE_MASK);
    if (known == null || known.isTagged() != tagged) {
      return FpduFault.OPCODE;
    }
    opcode = known;
    if (tagged) {
      tag = bytes.getInt(at + FpduLayout.TAG_OFFSET);
      taggedOffset = bytes.getLong(at + FpduLayout.TAGGED_OFFSET_OFFSET);
      return FpduFault.NONE;
    }
    tag = bytes.getInt(at + FpduLayout.INVALIDATED_OFFSET);
    queue = bytes.getInt(at + FpduLayout.QUEUE_OFFSET);
    sequence = bytes.getInt(at + FpduLayout.SEQUENCE_OFFSET);
    messageOffset = bytes.getInt(at + FpduLayout.MESSAGE_OFFSET_OFFSET);
    return queue == opcode.queue() ? FpduFault.NONE : FpduFault.QUEUE;
  }

  /** Makes this the header of a tagged segment. */
  public FpduHeader tagged(
      RdmapOpcode operation, boolean isLast, int to, long offset, int payload) {
    opcode = operation;
    last = isLast;
    tag = to;
    taggedOffset = offset;
    payloadLength = payload;
    return this;
  }

  /** Makes this the header of an untagged segment. */
  public FpduHeader untagged(
      RdmapOpcode operation, boolean isLast, int invalidated, int number, int offset, int payload) {
    opcode = operation;
    last = isLast;
    tag = invalidated;
    queue = operation.queue();
    sequence = number;
    messageOffset = offset;
    payloadLength = payload;
    return this;
  }

  /** Appends the header, with the length of the FPDU before it. */
  public void write(ByteBuffer to) {
    int at = to.position();
    to.putShort(at, (short) segmentLength());
    to.position(at + FpduLayout.LENGTH_LENGTH + writeHeaders(to, at + FpduLayout.LENGTH_LENGTH));
  }

  /** Writes the headers of DDP and RDMAP; returns their length. */
  int writeHeaders(ByteBuffer to, int at) {
    int start = at - FpduLayout.LENGTH_LENGTH;
    boolean tagged = opcode.isTagged();
    to.put(
        start + FpduLayout.CONTROL_OFFSET,
        (byte)
            (FpduLayout.DDP_VERSION
                | (tagged ? FpduLayout.TAGGED : 0)
                | (last ? FpduLayout.LAST : 0)));
    to.put(start + FpduLayout.OPERATION_OFFSET, (byte) (FpduLayout.RDMAP_VERSION | opcode.code));
    to.putInt(start + FpduLayout.TAG_OFFSET, tag);
    if (tagged) {
      to.putLong(start + FpduLayout.TAGGED_OFFSET_OFFSET, taggedOffset);
      return FpduLayout.TAGGED_END - FpduLayout.LENGTH_LENGTH;
    }
    to.putInt(start + FpduLayout.QUEUE_OFFSET, queue);
    to.putInt(start + FpduLayout.SEQUENCE_OFFSET, sequence);
    to.putInt(start + FpduLayout.MESSAGE_OFFSET_OFFSET, messageOffset);
    return FpduLayout.UNTAGGED_END - FpduLayout.LENGTH_LENGTH;
  }

  /** Returns the length of header and payload, without the length field before them. */
  int segmentLength() {
    return (opcode.isTagged() ? FpduLayout.TAGGED_END : FpduLayout.UNTAGGED_END)
        - FpduLayout.LENGTH_LENGTH
        + payloadLength;
  }

  /** Returns the length of the pad behind the payload. */
  public int pad() {
    return FpduLayout.pad(FpduLayout.LENGTH_LENGTH + segmentLength());
  }

  public RdmapOpcode opcode() {
    return opcode;
  }

  /** Returns whether this is the last segment of its message. */
  public boolean isLast() {
    return last;
  }

  /**
   * Returns, for a tagged segment, the tag of its target memory; for an untagged one, the tag to
   * invalidate, if any.
   */
  public int tag() {
    return tag;
  }

  public long taggedOffset() {
    return taggedOffset;
  }

  /** Returns, for an untagged segment, the number of its message on its queue, from 1 on. */
  public int sequence() {
    return sequence;
  }

  /** Returns, for an untagged segment, its offset in the message. */
  public int messageOffset() {
    return messageOffset;
  }

  public int payloadLength() {
    return payloadLength;
  }
}
