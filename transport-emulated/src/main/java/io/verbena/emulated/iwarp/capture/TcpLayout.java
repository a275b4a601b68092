// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.capture;

/** The TCP header without options (RFC 9293, section 3.1): offsets from its start. */
final class TcpLayout {
  static final int SOURCE_PORT_OFFSET = 0;
  static final int DESTINATION_PORT_OFFSET = 2;
  static final int SEQUENCE_OFFSET = 4;
  static final int ACKNOWLEDGEMENT_OFFSET = 8;
  static final int LENGTH_AND_FLAGS_OFFSET = 12;
  static final int WINDOW_OFFSET = 14;
  static final int CHECKSUM_OFFSET = 16;
  static final int URGENT_OFFSET = 18;
  static final int LENGTH = 20;

  /** The header's length, five words, in the high bits of the field that also has the flags. */
  static final int LENGTH_BITS = 5 << 12;

  static final int FIN = 0x01;
  static final int SYN = 0x02;
  static final int RST = 0x04;
  static final int PSH = 0x08;
  static final int ACK = 0x10;

  static final int MAX_WINDOW = 0xffff;
  static final int PROTOCOL = 6;

  private TcpLayout() {}
}
