// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

/** The measured jobs and their sizes, which are the same for each layer. */
enum Job {
  /** Round trips of {@link #MESSAGE} bytes, one at a time, both ends polling. */
  PING_PONG,
  /** RDMA READs of {@link #MESSAGE} bytes, one at a time; the far end sleeps. */
  READ,
  /** RDMA WRITEs of {@link #BLOCK} bytes, {@link #DEPTH} outstanding; the far end sleeps. */
  WRITE;

  /** Bytes of a message, and of a READ. */
  static final int MESSAGE = 64;

  /** The number of receives posted in advance. */
  static final int RECEIVES = 16;

  /** Bytes of a WRITE; all WRITEs have the same source and target, as in perftest. */
  static final int BLOCK = 64 << 10;

  /** The number of outstanding WRITEs, all of them signaled. */
  static final int DEPTH = 128;

  /** The maximum number of completions per poll, as in perftest. */
  static final int POLL = 16;
}
