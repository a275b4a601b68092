// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.micrometer;

/**
 * The totals of a connection so far. Its loop's thread alone adds; others read, a moment late.
 * Those of a closed connection are added to the totals of all closed ones.
 */
final class Totals {
  long sentMessages;
  long sentBytes;
  long receivedMessages;
  long receivedBytes;

  /** By the codes of opcodes. */
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
