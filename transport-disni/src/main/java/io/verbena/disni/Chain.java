package io.verbena.disni;

/**
 * The requests of a batch, each linked to the one behind it and to its own scatter/gather list once
 * and for all, so that a post writes only where the chain ends, and not even that if it ends where
 * the last one did.
 */
final class Chain {
  private final Block block;
  private final int requestSize;
  private int last;

  /**
   * Of {@code requests} requests at the start of {@code block}, and their lists at {@code lists}.
   */
  Chain(Block block, int requests, int requestSize, int lists, int listSize) {
    this.block = block;
    this.requestSize = requestSize;
    for (int i = 0; i < requests; i++) {
      block
          .bytes()
          .putLong(
              i * requestSize + Layout.WR_SG_LIST, block.address() + lists + (long) i * listSize);
      link(i, block.address() + (i + 1L) * requestSize);
    }
    last = requests - 1;
    link(last, 0);
  }

  /** Ends it after so many requests, at least 1; answers its address. */
  long end(int count) {
    if (count - 1 != last) {
      link(last, block.address() + (last + 1L) * requestSize);
      last = count - 1;
      link(last, 0);
    }
    return block.address();
  }

  private void link(int request, long to) {
    block.bytes().putLong(request * requestSize + Layout.WR_NEXT, to);
  }
}
