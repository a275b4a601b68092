// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

/** The base transport header: offsets from the start of a {@link RocePacket}. */
public final class BthLayout {
  static final int OFFSET = UdpLayout.SOURCE_PORT_OFFSET + UdpLayout.LENGTH;
  static final int OPCODE_OFFSET = OFFSET;
  static final int FLAGS_OFFSET = OFFSET + 1;
  static final int PARTITION_KEY_OFFSET = OFFSET + 2;

  /** FECN, BECN and six reserved bits, which switches may change. */
  static final int CONGESTION_OFFSET = OFFSET + 4;

  /** The low 24 bits of this word. */
  static final int QUEUE_PAIR_WORD = OFFSET + 4;

  static final int ACK_REQUEST_OFFSET = OFFSET + 8;

  /** The low 24 bits of this word. */
  static final int PSN_WORD = OFFSET + 8;

  public static final int LENGTH = 12;
  public static final int END = OFFSET + LENGTH;

  static final int SOLICITED = 0x80;
  static final int MIGRATED = 0x40;
  static final int PAD_SHIFT = 4;
  static final int PAD_MASK = 0x30;
  static final int VERSION_MASK = 0x0f;

  /**
   * The transport version of a sealed packet. RoCE defines only version 0 (IBTA volume 1, BTH), so
   * receivers without a lock drop the packet.
   */
  static final int SEALED = 0x01;

  static final int FORWARD_CONGESTION = 0x80;
  static final int BACKWARD_CONGESTION = 0x40;
  static final int ACK_REQUEST = 0x80;

  /** Full member of the default partition. */
  static final int DEFAULT_PARTITION_KEY = 0xffff;

  private BthLayout() {}
}
