// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.verbena.benchmarks.work.DirectMemory;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;

/**
 * Single operations at the verbs SPI. The calling thread posts and polls at both ends. An HCA that
 * works in the posting thread has completed the operation before the first poll.
 */
public final class VerbsLoop implements AutoCloseable {
  private final int size;
  private final VerbsPair pair;
  private final MemoryRegion near;
  private final MemoryRegion far;
  private final SendWorkRequest request = new SendWorkRequest();
  private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
  private final WorkCompletion[] completions = WorkCompletion.array(1);

  /** Connects both ends on the HCA of this address. */
  public VerbsLoop(URI address, int size) throws Exception {
    this.size = size;
    pair = new VerbsPair(address);
    near = pair.client.register(DirectMemory.allocate(size), Access.LOCAL_WRITE);
    far =
        pair.server.register(
            DirectMemory.allocate(size),
            Access.LOCAL_WRITE,
            Access.REMOTE_READ,
            Access.REMOTE_WRITE,
            Access.REMOTE_ATOMIC);
    postReceive();
  }

  /** Performs an RDMA READ and returns the number of bytes read. */
  public int read() {
    pair.atClient.postSend(local(request.read(far.address(), far.rkey()), size));
    return poll(pair.client.sent);
  }

  /** Performs an RDMA WRITE and returns the length in the completion. */
  public int write() {
    pair.atClient.postSend(local(request.write(far.address(), far.rkey()), size));
    return poll(pair.client.sent);
  }

  /** Performs a fetch-and-add of 1 and returns the number of bytes read. */
  public int fetchAndAdd() {
    pair.atClient.postSend(local(request.fetchAndAdd(far.address(), far.rkey(), 1), Long.BYTES));
    return poll(pair.client.sent);
  }

  /** Sends, receives, posts the receive again, and returns the number of bytes received. */
  public int sendAndReceive() {
    pair.atClient.postSend(local(request.send(), size));
    poll(pair.client.sent);
    int received = poll(pair.server.received);
    postReceive();
    return received;
  }

  private SendWorkRequest local(SendWorkRequest of, int length) {
    return of.signaled().buffer(near.address(), length, near.lkey());
  }

  private void postReceive() {
    pair.atServer.postReceive(receive.buffer(far.address(), size, far.lkey()));
  }

  private int poll(CompletionQueue queue) {
    while (queue.poll(completions) == 0) {
      Thread.onSpinWait();
    }
    Completions.check(completions[0]);
    return completions[0].byteLength();
  }

  @Override
  public void close() {
    pair.close();
  }
}
