// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

/** A classic pcap file: one file header, then a record per packet. Numbers are big-endian. */
final class PcapLayout {
  /** Marks the byte order, and times in nanoseconds. */
  static final int MAGIC = 0xa1b23c4d;

  static final short MAJOR_VERSION = 2;
  static final short MINOR_VERSION = 4;

  /** LINKTYPE_RAW: packets start with their IP header. */
  static final int LINK_TYPE = 101;

  static final int SECONDS_OFFSET = 0;
  static final int NANOS_OFFSET = 4;
  static final int CAPTURED_OFFSET = 8;
  static final int LENGTH_OFFSET = 12;
  static final int RECORD_HEADER_LENGTH = 16;

  private PcapLayout() {}
}
