// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

/** The work that is measured, and its sizes, the same for each layer. */
enum Job {
  /** Messages of {@link #MESSAGE} bytes to and fro, one at a time, both ends polling. */
  PING_PONG,
  /** RDMA READs of {@link #MESSAGE} bytes, one at a time, the far end asleep. */
  READ,
  /** RDMA WRITEs of {@link #BLOCK} bytes, {@link #DEPTH} under way, the far end asleep. */
  WRITE;

  /** Bytes of a message, and of a read. */
  static final int MESSAGE = 64;

  /** Receives that are posted ahead of the messages. */
  static final int RECEIVES = 16;

  /** Bytes of a write, all from the same place to the same place, as perftest does it. */
  static final int BLOCK = 64 << 10;

  /** Writes under way, each with a completion of its own. */
  static final int DEPTH = 128;

  /** Completions that are polled at a time, as perftest does it. */
  static final int POLL = 16;
}
