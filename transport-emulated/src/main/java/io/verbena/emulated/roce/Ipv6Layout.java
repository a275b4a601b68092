// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

/** The IPv6 header (RFC 8200): offsets from its start. */
public final class Ipv6Layout {
  /** Version (4 bits), traffic class (8), flow label (20). */
  public static final int VERSION_OFFSET = 0;

  public static final int PAYLOAD_LENGTH_OFFSET = 4;
  public static final int NEXT_HEADER_OFFSET = 6;
  public static final int HOP_LIMIT_OFFSET = 7;
  public static final int SOURCE_OFFSET = 8;
  public static final int DESTINATION_OFFSET = 24;
  public static final int LENGTH = 40;

  /** Version 6 in the first word; the rest of the word may change on the way. */
  public static final int VERSION = 6 << 28;

  public static final int DEFAULT_HOP_LIMIT = 64;
  public static final int UDP_PROTOCOL = 17;

  private Ipv6Layout() {}
}
