// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

/** The UDP header (RFC 768): offsets from the start of a {@link RocePacket}. */
public final class UdpLayout {
  static final int SOURCE_PORT_OFFSET = Ipv4Layout.LENGTH;
  static final int DESTINATION_PORT_OFFSET = SOURCE_PORT_OFFSET + Short.BYTES;
  public static final int LENGTH_OFFSET = DESTINATION_PORT_OFFSET + Short.BYTES;
  static final int CHECKSUM_OFFSET = LENGTH_OFFSET + Short.BYTES;
  public static final int LENGTH = 8;

  private UdpLayout() {}
}
