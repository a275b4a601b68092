// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import java.nio.ByteBuffer;

/** The IPv4 header without options (RFC 791): offsets from the start of a packet. */
public final class Ipv4Layout {
  public static final int VERSION_AND_LENGTH_OFFSET = 0;
  public static final int TYPE_OF_SERVICE_OFFSET = 1;
  public static final int TOTAL_LENGTH_OFFSET = 2;
  public static final int IDENTIFICATION_OFFSET = 4;
  public static final int FLAGS_AND_FRAGMENT_OFFSET = 6;
  public static final int TIME_TO_LIVE_OFFSET = 8;
  public static final int PROTOCOL_OFFSET = 9;
  public static final int CHECKSUM_OFFSET = 10;
  public static final int SOURCE_OFFSET = 12;
  public static final int DESTINATION_OFFSET = 16;
  public static final int LENGTH = 20;

  /** Version 4, five words long. */
  public static final int VERSION_AND_LENGTH = 0x45;

  public static final int DO_NOT_FRAGMENT = 0x4000;

  /** More fragments follow, or this fragment is not the first. */
  public static final int IS_FRAGMENT_MASK = 0x3fff;

  public static final int DEFAULT_TIME_TO_LIVE = 64;
  public static final int UDP_PROTOCOL = 17;

  private Ipv4Layout() {}

  /** Returns the ones' complement sum of the header (RFC 1071): 0 if its checksum is right. */
  public static int checksum(ByteBuffer bytes) {
    int sum = 0;
    for (int i = 0; i < LENGTH; i += Short.BYTES) {
      sum += BigEndian.getShort(bytes, i);
    }
    sum = (sum & 0xffff) + (sum >>> 16);
    sum += sum >>> 16;
    return ~sum & 0xffff;
  }
}
