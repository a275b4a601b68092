// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.stock;

import com.ibm.disni.RdmaEndpoint;
import com.ibm.disni.util.MemoryUtils;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedList;
import java.util.List;

/** Registered memory of a DiSNI endpoint, with the requests that use it. */
final class StockBuffer {
  private final RdmaEndpoint endpoint;
  private final ByteBuffer memory;
  private final IbvMr region;

  /** The number of requests of the send queue whose completions were not polled. */
  private int sending;

  StockBuffer(RdmaEndpoint endpoint, int bytes) throws IOException {
    this.endpoint = endpoint;
    memory = ByteBuffer.allocateDirect(bytes);
    region = endpoint.registerMemory(memory).execute().free().getMr();
  }

  ByteBuffer memory() {
    return memory;
  }

  long address() {
    return MemoryUtils.getAddress(memory);
  }

  int key() {
    return region.getRkey();
  }

  void receive(long id, int offset, int length) throws IOException {
    var request = new IbvRecvWR();
    request.setWr_id(id);
    request.setSg_list(part(offset, length));
    endpoint.postRecv(List.of(request)).execute().free();
  }

  void send(long id, int offset, int length) throws IOException {
    post(request(IbvSendWR.IBV_WR_SEND, id, offset, length));
  }

  void read(long id, int offset, int length, long from, int key) throws IOException {
    IbvSendWR request = request(IbvSendWR.IBV_WR_RDMA_READ, id, offset, length);
    request.getRdma().setRemote_addr(from);
    request.getRdma().setRkey(key);
    post(request);
  }

  /** Posts a WRITE of 0 bytes, for which the peer needs neither a key nor a receive. */
  void writeNothing(long id) throws IOException {
    post(request(IbvSendWR.IBV_WR_RDMA_WRITE, id, 0, 0));
  }

  private IbvSendWR request(int opcode, long id, int offset, int length) {
    var request = new IbvSendWR();
    request.setWr_id(id);
    request.setOpcode(opcode);
    request.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
    request.setSg_list(part(offset, length));
    return request;
  }

  @SuppressWarnings({"JdkObsolete", "NonApiType"}) // the type that DiSNI requires
  private LinkedList<IbvSge> part(int offset, int length) {
    var part = new IbvSge();
    part.setAddr(address() + offset);
    part.setLength(length);
    part.setLkey(region.getLkey());
    var list = new LinkedList<IbvSge>();
    list.add(part);
    return list;
  }

  private void post(IbvSendWR request) throws IOException {
    endpoint.postSend(List.of(request)).execute().free();
    sending++;
  }

  /** Counts a polled completion of the send queue. */
  void sent() {
    sending--;
  }

  /** Returns whether a request of the send queue has no polled completion. */
  boolean isSending() {
    return sending > 0;
  }

  void release() throws IOException {
    endpoint.deregisterMemory(region);
  }

  /** Fills a part with bytes that depend on a number. */
  void fill(int offset, int length, long number) {
    for (int i = 0; i < length; i++) {
      memory.put(offset + i, content(number, i));
    }
  }

  /** Fails unless a part has the bytes for a number. */
  void check(int offset, int length, long number) {
    for (int i = 0; i < length; i++) {
      if (memory.get(offset + i) != content(number, i)) {
        throw new IllegalStateException(
            "byte %d of number %d: %d (expected: %d)"
                .formatted(i, number, memory.get(offset + i), content(number, i)));
      }
    }
  }

  private static byte content(long number, int i) {
    return (byte) (number * 31 + i * 7L + (i >> 8));
  }
}
