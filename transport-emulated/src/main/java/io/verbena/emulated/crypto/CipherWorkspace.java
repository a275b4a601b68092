// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.crypto;

import java.nio.ByteBuffer;

/**
 * Arrays in which packets or records are sealed and opened, one at a time. Ciphers are fastest from
 * one array to another: within one array, or from direct memory, they allocate a copy. Not
 * thread-safe.
 */
public final class CipherWorkspace {
  /** The bytes that are authenticated but not encrypted. */
  final byte[] header;

  final byte[] in;
  final byte[] out;

  /**
   * Creates a workspace.
   *
   * @param header the number of bytes of each header
   * @param most the most bytes to encrypt after the header
   */
  public CipherWorkspace(int header, int most) {
    this.header = new byte[header];
    in = new byte[most + PacketCipher.TAG];
    out = new byte[most + PacketCipher.TAG];
  }

  /** Returns a workspace for the records of streams. */
  public static CipherWorkspace ofRecords() {
    return new CipherWorkspace(RecordCipher.HEADER, RecordCipher.MOST);
  }

  /**
   * Returns the header of the current packet, which the caller fills in before it seals or opens
   * the packet.
   */
  public byte[] header() {
    return header;
  }

  /**
   * Returns the array into which the caller puts the bytes of a record before it seals the record.
   */
  public byte[] in() {
    return in;
  }

  /** Returns the array with the bytes of an opened record. */
  public byte[] out() {
    return out;
  }

  void take(ByteBuffer from, int index, int length) {
    from.get(index, in, 0, length);
  }
}
