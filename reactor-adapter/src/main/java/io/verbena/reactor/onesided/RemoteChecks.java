// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.onesided;

import io.verbena.RemoteAccessException;
import io.verbena.RemoteMemory;
import io.verbena.RemoteMemory.Right;
import io.verbena.RemoteRequestException;

/**
 * Checks an operation before it is posted: an error that the peer's HCA finds ends the connection.
 */
final class RemoteChecks {
  /** The size in bytes below which a copy is cheaper than a registration. */
  static final int COPY_BELOW = 512;

  /** The most bytes that are read into one buffer. */
  static final int LONGEST = Integer.MAX_VALUE - 64;

  private RemoteChecks() {}

  static int readable(String peer, RemoteMemory from) {
    right(peer, "read", from, Right.READ);
    if (from.length() > LONGEST) {
      throw new RemoteRequestException(
          "read",
          peer,
          null,
          "length: " + from.length() + " (expected: <= " + LONGEST + "; use readPieces)",
          null);
    }
    return (int) from.length();
  }

  static void writable(String peer, String operation, RemoteMemory to, int length) {
    right(peer, operation, to, Right.WRITE);
    if (length > to.length()) {
      throw new RemoteAccessException(
          operation,
          peer,
          null,
          "data length: " + length + " (expected: <= " + to.length() + ")",
          null);
    }
  }

  static void atomic(String peer, String operation, RemoteMemory at) {
    right(peer, operation, at, Right.ATOMIC);
    if (at.length() < Long.BYTES) {
      throw new RemoteAccessException(
          operation,
          peer,
          null,
          "length: " + at.length() + " (expected: >= " + Long.BYTES + ")",
          null);
    }
    if ((at.address() & Long.BYTES - 1) != 0) {
      throw new RemoteRequestException(
          operation,
          peer,
          null,
          "address: 0x"
              + Long.toHexString(at.address())
              + " (expected: a multiple of "
              + Long.BYTES
              + ")",
          null);
    }
  }

  private static void right(String peer, String operation, RemoteMemory memory, Right right) {
    if (!memory.rights().contains(right)) {
      throw new RemoteAccessException(
          operation, peer, null, "rights: " + memory.rights() + " (expected: " + right + ")", null);
    }
  }
}
