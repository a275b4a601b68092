// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** The blocks of a server, by name. Thread-safe. */
final class BlockCatalog implements AutoCloseable {
  /** Blocks that it takes: their listing fits in one message. */
  static final int CAPACITY = 1024;

  private final ConcurrentMap<String, Block> blocks = new ConcurrentHashMap<>();

  /** Every block, by name. */
  List<BlockInfo> list() {
    return blocks.values().stream()
        .map(Block::info)
        .sorted(Comparator.comparing(BlockInfo::name))
        .toList();
  }

  /**
   * Returns the block of this name, which stays the catalog's.
   *
   * @throws RefusedException if there is none
   */
  Block get(String name) {
    Block block = blocks.get(name);
    if (block == null) {
      throw new RefusedException(ErrorCode.UNKNOWN_BLOCK, name);
    }
    return block;
  }

  /**
   * Refuses a block that could not be added.
   *
   * @throws RefusedException if the name is taken or the catalog is full
   */
  void checkRoomFor(String name) {
    if (blocks.containsKey(name)) {
      throw new RefusedException(ErrorCode.NAME_TAKEN, name);
    }
    if (blocks.size() >= CAPACITY) {
      throw new RefusedException(
          ErrorCode.NO_SPACE, "blocks: " + blocks.size() + " (expected: < " + CAPACITY + ")");
    }
  }

  /**
   * Adds a block and takes it over; one that is refused stays the caller's.
   *
   * @throws RefusedException if the name is taken or the catalog is full
   */
  void add(Block block) {
    checkRoomFor(block.name());
    if (blocks.putIfAbsent(block.name(), block) != null) {
      throw new RefusedException(ErrorCode.NAME_TAKEN, block.name());
    }
  }

  /** Releases every block; once, after the connections that use them. */
  @Override
  public void close() {
    for (Block block : blocks.values()) {
      if (blocks.remove(block.name(), block)) {
        block.content().release();
      }
    }
  }
}
