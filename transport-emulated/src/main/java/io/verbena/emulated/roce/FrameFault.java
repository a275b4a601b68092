// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

/**
 * What is wrong with the bytes of a {@link Frame}; the first thing found. An HCA drops such a
 * packet without a word.
 */
public enum FrameFault {
  /** Nothing. */
  NONE,
  /** Shorter than the headers that it must have. */
  TOO_SHORT,
  /** Longer than {@link Frame#CAPACITY}. */
  TOO_LONG,
  /** Not IPv4, or with IP options. */
  IP_VERSION,
  /** The length in the IP header is not that of the bytes. */
  IP_LENGTH,
  /** A fragment of a larger packet. */
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
  /** No such operation. */
  OPCODE,
  /** Payload and pad are no whole words, or there is more pad than bytes. */
  PAD,
  /** Payload where the operation has none, or more than the largest MTU. */
  PAYLOAD_LENGTH,
  /** The invariant CRC is wrong: some byte is not as sent. */
  ICRC,
  /** It is sealed, and not by the peer, or not as the peer sealed it. */
  FORGED,
  /** It is sealed, and has come before, or is too old to know. */
  REPLAYED
}
