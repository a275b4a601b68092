// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.lock;

import java.nio.ByteBuffer;

/**
 * Arrays that packets are sealed and opened in, one at a time. Ciphers are fastest between two
 * arrays: within one, or from direct memory, they copy by themselves, into memory that they
 * allocate.
 */
public final class LockWorkspace {
  /** What goes unencrypted and is sealed all the same. */
  final byte[] header;

  final byte[] in;
  final byte[] out;

  /**
   * For packets of a kind.
   *
   * @param header bytes of each header
   * @param most bytes behind it that are encrypted, at the most
   */
  public LockWorkspace(int header, int most) {
    this.header = new byte[header];
    in = new byte[most + PacketLock.TAG];
    out = new byte[most + PacketLock.TAG];
  }

  /** The header of the packet at hand, to be filled in before it is sealed or opened. */
  public byte[] header() {
    return header;
  }

  void take(ByteBuffer from, int index, int length) {
    from.get(index, in, 0, length);
  }
}
