// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

/** The IPv6 header (RFC 8200): offsets from its start. */
final class Ipv6Layout {
  /** Version 4 bits, traffic class 8, flow label 20. */
  static final int VERSION_OFFSET = 0;

  static final int PAYLOAD_LENGTH_OFFSET = 4;
  static final int NEXT_HEADER_OFFSET = 6;
  static final int HOP_LIMIT_OFFSET = 7;
  static final int SOURCE_OFFSET = 8;
  static final int DESTINATION_OFFSET = 24;
  static final int LENGTH = 40;

  /** Version 6 in the first word; all else there may change on the way. */
  static final int VERSION = 6 << 28;

  static final int DEFAULT_HOP_LIMIT = 64;
  static final int UDP_PROTOCOL = 17;

  private Ipv6Layout() {}
}
