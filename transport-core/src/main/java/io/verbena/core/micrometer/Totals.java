// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.micrometer;

/**
 * The totals of a connection so far. Only the thread of its loop adds; other threads read, perhaps
 * a moment late. The totals of a closed connection are added to those of all closed ones.
 */
final class Totals {
  long sentMessages;
  long sentBytes;
  long receivedMessages;
  long receivedBytes;

  /** Bytes moved, by the code of the opcode. */
  final long[] movedBytes = new long[Operations.OPCODES];

  void add(Totals other) {
    sentMessages += other.sentMessages;
    sentBytes += other.sentBytes;
    receivedMessages += other.receivedMessages;
    receivedBytes += other.receivedBytes;
    for (int i = 0; i < movedBytes.length; i++) {
      movedBytes[i] += other.movedBytes[i];
    }
  }
}
