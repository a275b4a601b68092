// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

import java.nio.ByteBuffer;

/** The payload of a READ request (RFC 5040, section 4.4). Reusable. */
public final class ReadRequest {
  private static final long UNSIGNED = 0xffff_ffffL;

  private int sinkTag;
  private long sinkOffset;
  private long length;
  private int sourceTag;
  private long sourceOffset;

  /** Reads the payload, of {@link FpduLayout#READ_REQUEST_LENGTH} bytes. */
  public void parse(ByteBuffer bytes, int at) {
    sinkTag = bytes.getInt(at + FpduLayout.SINK_TAG_OFFSET);
    sinkOffset = bytes.getLong(at + FpduLayout.SINK_OFFSET_OFFSET);
    length = bytes.getInt(at + FpduLayout.READ_LENGTH_OFFSET) & UNSIGNED;
    sourceTag = bytes.getInt(at + FpduLayout.SOURCE_TAG_OFFSET);
    sourceOffset = bytes.getLong(at + FpduLayout.SOURCE_OFFSET_OFFSET);
  }

  /** Sets the fields of a request. */
  public ReadRequest of(int sink, long sinkAt, long bytes, int source, long sourceAt) {
    sinkTag = sink;
    sinkOffset = sinkAt;
    length = bytes;
    sourceTag = source;
    sourceOffset = sourceAt;
    return this;
  }

  /** Appends the payload. */
  public void write(ByteBuffer to) {
    to.putInt(sinkTag)
        .putLong(sinkOffset)
        .putInt((int) length)
        .putInt(sourceTag)
        .putLong(sourceOffset);
  }

  /** Returns the tag of the memory that the answer goes to. */
  public int sinkTag() {
    return sinkTag;
  }

  public long sinkOffset() {
    return sinkOffset;
  }

  /** Returns the number of bytes to read, up to 2<sup>32</sup> - 1. */
  public long length() {
    return length;
  }

  /** Returns the tag of the memory to read from. */
  public int sourceTag() {
    return sourceTag;
  }

  public long sourceOffset() {
    return sourceOffset;
  }
}
