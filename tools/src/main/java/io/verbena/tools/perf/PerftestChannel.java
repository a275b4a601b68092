// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.end.ToolFailure;
import java.io.IOException;
import java.time.Duration;

/** What the two ends of a perftest program talk over beside their test. One thread. */
interface PerftestChannel {
  /** Writes a message. */
  void write(byte[] message) throws IOException, ToolFailure, InterruptedException;

  /** Reads a message of so many bytes. */
  byte[] read(int length) throws IOException, ToolFailure, InterruptedException;

  /**
   * Reads the next message, whatever it is: an address, the first number of a report, or the last.
   */
  byte[] readAny() throws IOException, ToolFailure, InterruptedException;

  /** Returns whether a message of the peer waits to be read. */
  boolean isSpokenTo() throws IOException, ToolFailure;

  /** Sets the longest time to wait for a message. */
  void waitAtMost(Duration limit) throws IOException;

  /** Returns an address as it is written here. */
  byte[] encode(PerftestAddress address);

  /** Returns the address that was read here. */
  PerftestAddress decode(byte[] message) throws ToolFailure;

  /** The length of an address. */
  int addressLength();

  /** The client's last message, or no bytes: the last address is the last message then. */
  byte[] lastMessage();
}
