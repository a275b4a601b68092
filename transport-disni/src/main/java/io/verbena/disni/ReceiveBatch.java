// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.ScatterGatherList;
import java.nio.ByteBuffer;

/** Writes receives as {@code struct ibv_recv_wr}. */
final class ReceiveBatch {
  private final Chain chain;
  private final boolean needsBuffer;

  /**
   * @param maxScatterGather the most scatter/gather entries of a receive, at least 1
   * @param needsBuffer whether a receive without a buffer is given an empty one
   */
  ReceiveBatch(int maxScatterGather, boolean needsBuffer) {
    chain = new Chain(Layout.RECV_WR_SIZE, maxScatterGather, 0);
    this.needsBuffer = needsBuffer;
  }

  Chain chain() {
    return chain;
  }

  void add(ReceiveWorkRequest request, long cookie) {
    ByteBuffer bytes = chain.bytes();
    int at = chain.request();
    ScatterGatherList buffers = request.buffers();
    bytes.putLong(at + Layout.WR_ID, cookie);
    if (needsBuffer && buffers.size() == 0) {
      bytes.putInt(at + Layout.WR_NUM_SGE, 1);
      bytes.putLong(chain.list() + Layout.SGE_ADDR, 0);
      bytes.putLong(chain.list() + Layout.SGE_LENGTH, 0);
    } else {
      bytes.putInt(at + Layout.WR_NUM_SGE, buffers.size());
      write(buffers, bytes, chain.list());
    }
    chain.added();
  }

  /** Writes a scatter/gather list. */
  static void write(ScatterGatherList buffers, ByteBuffer bytes, int list) {
    for (int i = 0, n = buffers.size(), at = list; i < n; i++, at += Layout.SGE_SIZE) {
      bytes.putLong(at + Layout.SGE_ADDR, buffers.address(i));
      bytes.putLong(at + Layout.SGE_LENGTH, Block.pair(buffers.length(i), buffers.lkey(i)));
    }
  }
}
