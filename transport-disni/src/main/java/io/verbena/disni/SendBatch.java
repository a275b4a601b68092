// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.ScatterGatherList;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;

/** Writes send requests as {@code struct ibv_send_wr}. */
final class SendBatch {
  private final Chain chain;
  private final int maxInlineData;
  private final DeviceQuirks quirks;

  SendBatch(int maxScatterGather, int maxInlineData, DeviceQuirks quirks) {
    this.maxInlineData = maxInlineData;
    this.quirks = quirks;
    // Inline data needs one entry.
    int entries = Math.max(1, maxScatterGather);
    chain = new Chain(Layout.SEND_WR_SIZE, entries, Chain.SIZE * maxInlineData);
  }

  Chain chain() {
    return chain;
  }

  void add(SendWorkRequest request, long cookie) {
    ByteBuffer bytes = chain.bytes();
    int at = chain.request();
    bytes.putLong(at + Layout.WR_ID, cookie);
    bytes.putInt(at + Layout.WR_SEND_FLAGS, flags(request));
    switch (request.opcode()) {
      case RDMA_WRITE_WITH_IMM -> {
        putImmediate(bytes, at, request);
        putRemote(bytes, at, request);
      }
      case RDMA_WRITE, RDMA_READ -> putRemote(bytes, at, request);
      case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> putAtomic(bytes, at, request);
      case BIND_MW -> putBind(bytes, at, request);
      case SEND_WITH_INV -> {
        bytes.putInt(at + Layout.WR_IMM_OR_KEY, request.remoteKey());
        // libsiw reads the key from this field.
        bytes.putInt(at + Layout.WR_RDMA_RKEY, request.remoteKey());
      }
      case LOCAL_INV -> bytes.putInt(at + Layout.WR_IMM_OR_KEY, request.remoteKey());
      case SEND_WITH_IMM -> {
        putImmediate(bytes, at, request);
        putDatagram(bytes, at, request);
      }
      case SEND -> putDatagram(bytes, at, request);
    }
    putBuffers(bytes, at, request);
    chain.added();
  }

  /**
   * Returns the request's flags, with the fence that the device needs to keep requests in order.
   */
  int flags(SendWorkRequest request) {
    int asked = request.flags();
    if (!quirks.overtakesReads()) {
      return asked;
    }
    return request.opcode() == SendOpcode.RDMA_READ
        ? asked & ~SendWorkRequest.FENCE
        : asked | SendWorkRequest.FENCE;
  }

  private static void putImmediate(ByteBuffer bytes, int at, SendWorkRequest request) {
    bytes.putInt(at + Layout.WR_IMM_OR_KEY, networkOrder(request.immediate()));
  }

  /** Converts to or from network byte order. */
  static int networkOrder(int value) {
    return Block.LITTLE_ENDIAN ? Integer.reverseBytes(value) : value;
  }

  private static void putRemote(ByteBuffer bytes, int at, SendWorkRequest request) {
    bytes.putLong(at + Layout.WR_RDMA_REMOTE_ADDR, request.remoteAddress());
    bytes.putInt(at + Layout.WR_RDMA_RKEY, request.remoteKey());
  }

  private static void putAtomic(ByteBuffer bytes, int at, SendWorkRequest request) {
    bytes.putLong(at + Layout.WR_ATOMIC_REMOTE_ADDR, request.remoteAddress());
    bytes.putLong(at + Layout.WR_ATOMIC_COMPARE_ADD, request.compareOrAdd());
    bytes.putLong(at + Layout.WR_ATOMIC_SWAP, request.swap());
    bytes.putInt(at + Layout.WR_ATOMIC_RKEY, request.remoteKey());
  }

  private static void putDatagram(ByteBuffer bytes, int at, SendWorkRequest request) {
    if (request.addressHandle() instanceof DisniAddressHandle handle) {
      bytes.putLong(at + Layout.WR_UD_AH, handle.pointer());
      bytes.putInt(at + Layout.WR_UD_REMOTE_QPN, request.remoteQueuePair());
      bytes.putInt(at + Layout.WR_UD_REMOTE_QKEY, request.remoteQueueKey());
    }
  }

  private static void putBind(ByteBuffer bytes, int at, SendWorkRequest request) {
    MemoryWindow window = request.window();
    MemoryRegion region = request.windowRegion();
    ScatterGatherList buffers = request.buffers();
    // Clears the value of an earlier request: librxe refuses a bind with immediate data.
    bytes.putInt(at + Layout.WR_IMM_OR_KEY, 0);
    bytes.putLong(at + Layout.WR_BIND_MW, ((DisniMemoryWindow) window).pointer());
    bytes.putInt(at + Layout.WR_BIND_RKEY, request.remoteKey());
    bytes.putLong(at + Layout.WR_BIND_MR, ((DisniMemoryRegion) region).pointer());
    bytes.putLong(at + Layout.WR_BIND_ADDR, buffers.address(0));
    bytes.putLong(at + Layout.WR_BIND_LENGTH, buffers.length(0));
    bytes.putInt(at + Layout.WR_BIND_ACCESS, request.windowAccess());
  }

  private static void putHead(ByteBuffer bytes, int at, int entries, SendWorkRequest request) {
    bytes.putLong(at + Layout.WR_NUM_SGE, Block.pair(entries, request.opcode().code()));
  }

  private void putBuffers(ByteBuffer bytes, int at, SendWorkRequest request) {
    int list = chain.list();
    ByteBuffer inline = request.inlineData();
    if (inline != null) {
      int length = inline.remaining();
      int copy = chain.extra() + chain.count() * maxInlineData;
      bytes.put(copy, inline, inline.position(), length);
      putHead(bytes, at, length == 0 ? 0 : 1, request);
      bytes.putLong(list + Layout.SGE_ADDR, chain.addressOf(copy));
      bytes.putInt(list + Layout.SGE_LENGTH, length);
      bytes.putInt(list + Layout.SGE_LKEY, 0);
    } else if (request.opcode() == SendOpcode.BIND_MW) {
      putHead(bytes, at, 0, request);
    } else if (quirks.tripsOverEmptyBuffers() && request.opcode() != SendOpcode.RDMA_READ) {
      putHead(bytes, at, writeFilled(request.buffers(), bytes, list), request);
    } else {
      putHead(bytes, at, request.buffers().size(), request);
      ReceiveBatch.write(request.buffers(), bytes, list);
    }
  }

  /** Writes the entries that are not empty; returns their number. */
  private static int writeFilled(ScatterGatherList buffers, ByteBuffer bytes, int list) {
    int entries = 0;
    for (int i = 0, n = buffers.size(); i < n; i++) {
      if (buffers.length(i) > 0) {
        int at = list + entries * Layout.SGE_SIZE;
        bytes.putLong(at + Layout.SGE_ADDR, buffers.address(i));
        bytes.putLong(at + Layout.SGE_LENGTH, Block.pair(buffers.length(i), buffers.lkey(i)));
        entries++;
      }
    }
    return entries;
  }
}
