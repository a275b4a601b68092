// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

/**
 * The first fault found in the bytes of a {@link RocePacket}. An HCA silently drops a packet with a
 * fault.
 */
public enum PacketFault {
  /** There is no fault. */
  NONE,
  /** It is shorter than its headers. */
  TOO_SHORT,
  /** It is longer than {@link RocePacket#CAPACITY}. */
  TOO_LONG,
  /** It is not IPv4, or has IP options. */
  IP_VERSION,
  /** The length in the IP header differs from the number of bytes. */
  IP_LENGTH,
  /** It is a fragment of a larger packet. */
  IP_FRAGMENT,
  /** The checksum of the IP header is wrong. */
  IP_CHECKSUM,
  /** The IP protocol is not UDP. */
  IP_PROTOCOL,
  /** The destination port is not {@link RocePacket#UDP_PORT}. */
  UDP_PORT,
  /** The length in the UDP header differs from the number of bytes. */
  UDP_LENGTH,
  /** The transport version is neither 0 nor that of a sealed packet. */
  TRANSPORT_VERSION,
  /** The opcode is unknown. */
  OPCODE,
  /** The length of payload and pad is not a multiple of 4, or is less than the pad. */
  PAD,
  /** There is payload although the operation has none, or more than the largest MTU. */
  PAYLOAD_LENGTH,
  /** The invariant CRC is wrong: some byte was changed on the way. */
  ICRC,
  /** It is sealed, but not by the peer, or it was changed on the way. */
  FORGED,
  /** It is sealed, and was received before or is too old to tell. */
  REPLAYED
}
