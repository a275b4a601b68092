// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import java.util.HexFormat;

/** FPDUs in hexadecimal that need no padding; their CRC is zero, and the receiver ignores it. */
public final class ForeignFpdus {
  public static final int WRITE = 0x40;
  public static final int READ_REQUEST = 0x41;
  public static final int READ_RESPONSE = 0x42;
  public static final int SEND = 0x43;
  public static final int SEND_WITH_INVALIDATE = 0x44;
  public static final int ATOMIC_REQUEST = 0x4a;

  /** DDP control fields: version 1, last segment of the message. */
  public static final int TAGGED = 0xc1;

  public static final int UNTAGGED = 0x41;

  /** 8 bytes of payload. */
  public static final String BYTES = "00".repeat(8);

  private static final int SENDS = 0;
  private static final int READS = 1;

  private ForeignFpdus() {}

  /** Returns the first SEND, of 8 bytes. */
  public static String send() {
    return send(SEND, 0, 1, BYTES);
  }

  public static String send(int operation, int invalidated, int number, String payload) {
    return untagged(UNTAGGED, operation, invalidated, SENDS, number, 0, payload);
  }

  /** Returns a WRITE of 8 bytes. */
  public static String write(int key, long address) {
    return tagged(TAGGED, WRITE, key, address);
  }

  public static String read(int number, int key, long address, int length) {
    return request(READ_REQUEST, number, hex(1) + hex(0L) + hex(length) + hex(key) + hex(address));
  }

  /** Returns a fetch-and-add. */
  public static String atomic(int key, long address) {
    return request(ATOMIC_REQUEST, 1, hex(0) + hex(1) + hex(key) + hex(address) + BYTES.repeat(4));
  }

  /** Returns the request of a READ or an atomic, with these words as its payload. */
  public static String request(int operation, int number, String words) {
    return untagged(UNTAGGED, operation, 0, READS, number, 0, words);
  }

  public static String tagged(int control, int operation, int tag, long offset) {
    return fpdu(octet(control) + octet(operation) + hex(tag) + hex(offset) + BYTES);
  }

  public static String untagged(
      int control, int operation, int tag, int queue, int number, int offset, String payload) {
    return fpdu(
        octet(control)
            + octet(operation)
            + hex(tag)
            + hex(queue)
            + hex(number)
            + hex(offset)
            + payload);
  }

  private static String fpdu(String segment) {
    return HexFormat.of().toHexDigits((short) (segment.length() / 2)) + segment + hex(0);
  }

  private static String octet(int octet) {
    return HexFormat.of().toHexDigits((byte) octet);
  }

  private static String hex(int value) {
    return HexFormat.of().toHexDigits(value);
  }

  private static String hex(long value) {
    return HexFormat.of().toHexDigits(value);
  }
}
