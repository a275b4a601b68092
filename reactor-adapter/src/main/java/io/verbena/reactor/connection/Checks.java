package io.verbena.reactor.connection;

import io.verbena.RemoteAccessException;
import io.verbena.RemoteMemory;
import io.verbena.RemoteMemory.Right;
import io.verbena.RemoteRequestException;

/**
 * What can be refused before the HCA is asked: a mistake that the peer's HCA would find costs the
 * connection.
 */
final class Checks {
  /** Below so many bytes a copy is cheaper than a registration. */
  static final int COPY_BELOW = 512;

  private static final int LONGEST = Integer.MAX_VALUE - 64;

  private Checks() {}

  static int readable(Connection connection, RemoteMemory from) {
    right(connection, "read", from, Right.READ);
    if (from.length() > LONGEST) {
      throw new RemoteRequestException(
          "read",
          connection.peer(),
          null,
          "length: " + from.length() + " (expected: <= " + LONGEST + "; use readPieces)",
          null);
    }
    return (int) from.length();
  }

  static void writable(Connection connection, String operation, RemoteMemory to, int length) {
    right(connection, operation, to, Right.WRITE);
    if (length > to.length()) {
      throw new RemoteAccessException(
          operation,
          connection.peer(),
          null,
          "data length: " + length + " (expected: <= " + to.length() + ")",
          null);
    }
  }

  static void atomic(Connection connection, String operation, RemoteMemory at) {
    right(connection, operation, at, Right.ATOMIC);
    if (at.length() < Long.BYTES) {
      throw new RemoteAccessException(
          operation,
          connection.peer(),
          null,
          "length: " + at.length() + " (expected: >= " + Long.BYTES + ")",
          null);
    }
    if ((at.address() & Long.BYTES - 1) != 0) {
      throw new RemoteRequestException(
          operation,
          connection.peer(),
          null,
          "address: 0x"
              + Long.toHexString(at.address())
              + " (expected: a multiple of "
              + Long.BYTES
              + ")",
          null);
    }
  }

  private static void right(
      Connection connection, String operation, RemoteMemory memory, Right right) {
    if (!memory.rights().contains(right)) {
      throw new RemoteAccessException(
          operation,
          connection.peer(),
          null,
          "rights: " + memory.rights() + " (expected: " + right + ")",
          null);
    }
  }
}
