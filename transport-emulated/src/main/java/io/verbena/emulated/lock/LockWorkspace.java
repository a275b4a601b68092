// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.lock;

import java.nio.ByteBuffer;

/**
 * Arrays in which packets or records are sealed and opened, one at a time. Ciphers are fastest
 * between two arrays: within one array, or from direct memory, they copy into memory that they
 * allocate.
 */
public final class LockWorkspace {
  /** The bytes that are authenticated but not encrypted. */
  final byte[] header;

  final byte[] in;
  final byte[] out;

  /**
   * Creates a workspace for packets of a kind.
   *
   * @param header bytes of each header
   * @param most the most bytes behind it that are encrypted
   */
  public LockWorkspace(int header, int most) {
    this.header = new byte[header];
    in = new byte[most + PacketLock.TAG];
    out = new byte[most + PacketLock.TAG];
  }

  /** Returns a workspace for the records of streams. */
  public static LockWorkspace ofRecords() {
    return new LockWorkspace(RecordLock.HEADER, RecordLock.MOST);
  }

  /** Returns the header of the current packet, to be filled in before it is sealed or opened. */
  public byte[] header() {
    return header;
  }

  /** Returns the array to put the bytes of a record into before it is sealed. */
  public byte[] in() {
    return in;
  }

  /** Returns the array with the bytes of a record that was opened. */
  public byte[] out() {
    return out;
  }

  void take(ByteBuffer from, int index, int length) {
    from.get(index, in, 0, length);
  }
}
