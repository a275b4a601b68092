package io.verbena.disni;

import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.ScatterGatherList;
import java.nio.ByteBuffer;

/** Receives as libibverbs takes them, linked, for one native call. Used again and again. */
final class ReceiveBatch {
  static final int SIZE = 16;

  private final Block block;
  private final Chain chain;
  private final int maxScatterGather;
  private int count;

  ReceiveBatch(int maxScatterGather) {
    this.maxScatterGather = maxScatterGather;
    int listSize = maxScatterGather * Layout.SGE_SIZE;
    block = new Block(SIZE * (Layout.RECV_WR_SIZE + listSize) + Long.BYTES);
    chain = new Chain(block, SIZE, Layout.RECV_WR_SIZE, SIZE * Layout.RECV_WR_SIZE, listSize);
  }

  void clear() {
    count = 0;
  }

  int count() {
    return count;
  }

  /** Where the chain of what was added begins. */
  long address() {
    return chain.end(count);
  }

  /** Where the native call tells which request it refused. */
  long badAddress() {
    return block.address() + badOffset();
  }

  private int badOffset() {
    return block.bytes().capacity() - Long.BYTES;
  }

  /** How many were posted before the one that was refused. */
  int posted() {
    return (int) (block.bytes().getLong(badOffset()) - block.address()) / Layout.RECV_WR_SIZE;
  }

  void add(ReceiveWorkRequest request, long cookie) {
    ByteBuffer bytes = block.bytes();
    int at = count * Layout.RECV_WR_SIZE;
    int list = SIZE * Layout.RECV_WR_SIZE + count * maxScatterGather * Layout.SGE_SIZE;
    ScatterGatherList buffers = request.buffers();
    bytes.putLong(at + Layout.WR_ID, cookie);
    bytes.putInt(at + Layout.WR_NUM_SGE, buffers.size());
    write(buffers, bytes, list);
    count++;
  }

  /** Writes a scatter/gather list. */
  static void write(ScatterGatherList buffers, ByteBuffer bytes, int list) {
    for (int i = 0, n = buffers.size(), at = list; i < n; i++, at += Layout.SGE_SIZE) {
      bytes.putLong(at + Layout.SGE_ADDR, buffers.address(i));
      bytes.putLong(at + Layout.SGE_LENGTH, Block.pair(buffers.length(i), buffers.lkey(i)));
    }
  }
}
