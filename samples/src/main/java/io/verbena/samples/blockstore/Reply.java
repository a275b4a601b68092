// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.verbena.RemoteMemory;
import java.util.List;

/** An answer of the store. */
sealed interface Reply {

  /** Every block, by name. */
  record Listing(List<BlockInfo> blocks) implements Reply {}

  /** The description of one block. */
  record Status(BlockInfo block) implements Reply {}

  /** Memory that the client may use. */
  record Location(RemoteMemory memory) implements Reply {}

  /** Memory that the client may fill, and the immediate that reports it as filled. */
  record Reservation(int number, RemoteMemory memory) implements Reply {}

  /** Announces the messages of a stream. */
  record Streaming(int stream, int messages, long length) implements Reply {}

  /** Says that the written block has the announced digest and is in the store. */
  record Stored(BlockInfo block) implements Reply {}

  /** The request was refused; the connection goes on. */
  record Refused(ErrorCode refusal, String reason) implements Reply {}
}
