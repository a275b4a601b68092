// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

import static java.nio.charset.StandardCharsets.US_ASCII;

/** The request and the reply with which MPA starts (RFC 5044, section 7.1; RFC 6581, section 9). */
final class MpaLayout {
  static final int KEY_LENGTH = 16;
  static final int FLAGS_OFFSET = KEY_LENGTH;
  static final int REVISION_OFFSET = FLAGS_OFFSET + 1;
  static final int PRIVATE_LENGTH_OFFSET = REVISION_OFFSET + 1;
  static final int HEADER_LENGTH = PRIVATE_LENGTH_OFFSET + 2;

  static final int MARKERS = 0x80;
  static final int CRC = 0x40;
  static final int REJECT = 0x20;

  /** "S": the private data begins with two words for the depths. */
  static final int ENHANCED = 0x10;

  /**
   * Two of the bits that RFC 5044 leaves free. The first asks in a request whether the peer
   * supports RFC 7306, the second confirms that in a reply. The bits differ because siw copies the
   * bits of the request, which it does not read, into its reply ({@code siw_cm.c}, {@code
   * siw_proc_mpareq}). By another free bit, 08, siw announces segments beyond the MSS.
   */
  static final int EXTENSION_BITS = 0x06;

  static final int ASKS_FOR_EXTENSIONS = 0x04;
  static final int HAS_EXTENSIONS = 0x02;

  /** Another free bit: the stream is, or must be, locked. The bit is no proof of the key. */
  static final int LOCKED = 0x01;

  /** Offsets in the private data, whose length includes the words. */
  static final int RESPONDER_WORD = 0;

  static final int INITIATOR_WORD = 2;
  static final int WORDS_LENGTH = 4;

  static final int DEPTH_MASK = 0x3fff;

  /**
   * In the word of the responder's depth: peer-to-peer, and an empty SEND makes the responder
   * ready.
   */
  static final int PEER_TO_PEER = 0x8000;

  static final int READY_BY_SEND = 0x4000;

  /** In the word of the initiator's depth: an empty WRITE, or READ, makes the responder ready. */
  static final int READY_BY_WRITE = 0x8000;

  static final int READY_BY_READ = 0x4000;

  /** RFC 5044, section 7.1: PD_Length. */
  static final int MAX_PRIVATE_LENGTH = 512;

  private static final byte[] REQUEST_KEY = "MPA ID Req Frame".getBytes(US_ASCII);
  private static final byte[] REPLY_KEY = "MPA ID Rep Frame".getBytes(US_ASCII);

  private MpaLayout() {}

  /** Returns the bit of {@link #EXTENSION_BITS} that a frame of this kind sets for RFC 7306. */
  static int extensions(MpaFrame.Kind kind) {
    return switch (kind) {
      case REQUEST -> ASKS_FOR_EXTENSIONS;
      case REPLY -> HAS_EXTENSIONS;
    };
  }

  static byte[] key(MpaFrame.Kind kind) {
    return switch (kind) {
      case REQUEST -> REQUEST_KEY;
      case REPLY -> REPLY_KEY;
    };
  }
}
