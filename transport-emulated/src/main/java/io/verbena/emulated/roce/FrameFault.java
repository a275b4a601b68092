// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

/** The first fault found in the bytes of a {@link Frame}. An HCA silently drops such a packet. */
public enum FrameFault {
  /** There is no fault. */
  NONE,
  /** It is shorter than its headers. */
  TOO_SHORT,
  /** It is longer than {@link Frame#CAPACITY}. */
  TOO_LONG,
  /** It is not IPv4, or has IP options. */
  IP_VERSION,
  /** The length in the IP header is not that of the bytes. */
  IP_LENGTH,
  /** It is a fragment of a larger packet. */
  IP_FRAGMENT,
  /** The checksum of the IP header is wrong. */
  IP_CHECKSUM,
  /** The IP protocol is not UDP. */
  IP_PROTOCOL,
  /** The destination port is not {@link Frame#UDP_PORT}. */
  UDP_PORT,
  /** The length in the UDP header is not that of the bytes. */
  UDP_LENGTH,
  /** The transport version is neither 0 nor that of a sealed packet. */
  TRANSPORT_VERSION,
  /** The opcode is unknown. */
  OPCODE,
  /** Payload and pad are not a multiple of 4 bytes, or there is more pad than bytes. */
  PAD,
  /** There is payload where the operation has none, or more than the largest MTU. */
  PAYLOAD_LENGTH,
  /** The invariant CRC is wrong: some byte is not as sent. */
  ICRC,
  /** It is sealed, but not by the peer, or was changed on the way. */
  FORGED,
  /** It is sealed, and has come before, or is too old to tell. */
  REPLAYED
}
