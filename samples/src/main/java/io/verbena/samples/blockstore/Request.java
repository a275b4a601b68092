// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

/** A request of a client to the store. */
sealed interface Request {

  /** Asks for all blocks; answered by {@link Reply.Listing}. */
  record ListBlocks() implements Request {}

  /** Asks for one block; answered by {@link Reply.Status}. */
  record StatBlock(String name) implements Request {}

  /** Asks where a block may be read; answered by {@link Reply.Location}. */
  record LocateBlock(String name) implements Request {}

  /** Asks where the ticket counter is; answered by {@link Reply.Location}. */
  record LocateTickets() implements Request {}

  /**
   * Asks where a new block may be written; answered by {@link Reply.Reservation}. After its last
   * WRITE the client sends the reservation's number as immediate, and gets a {@link Reply.Stored}.
   */
  record ReserveBlock(BlockInfo block) implements Request {}

  /**
   * Asks for a block as messages of {@code messageLength} bytes, the last one shorter; answered by
   * {@link Reply.Streaming} and then the messages.
   */
  record StreamBlock(String name, int messageLength) implements Request {}
}
