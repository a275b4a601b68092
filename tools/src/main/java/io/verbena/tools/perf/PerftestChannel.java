// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.end.ToolFailure;
import java.io.IOException;
import java.time.Duration;

/** The channel for the parameters and results of a test's two ends. One thread. */
interface PerftestChannel {
  /** Writes a message. */
  void write(byte[] message) throws IOException, ToolFailure, InterruptedException;

  /** Reads a message of this length, in bytes. */
  byte[] read(int length) throws IOException, ToolFailure, InterruptedException;

  /**
   * Reads the next message, whatever it is: an address, the first number of a report, or the last.
   */
  byte[] readAny() throws IOException, ToolFailure, InterruptedException;

  /** Returns whether a message of the peer waits to be read. */
  boolean isSpokenTo() throws IOException, ToolFailure;

  /** Sets the longest time to wait for a message. */
  void waitAtMost(Duration limit) throws IOException;

  /** Encodes an address in the form of this channel. */
  byte[] encode(PerftestAddress address);

  /** Decodes an address in the form of this channel. */
  PerftestAddress decode(byte[] message) throws ToolFailure;

  /** The length of an address. */
  int addressLength();

  /** The client's last message; empty if its last address is the last message. */
  byte[] lastMessage();
}
