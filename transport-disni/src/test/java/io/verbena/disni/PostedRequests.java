// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.verbena.verbs.Access;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;

/** Measures one way to post on a device of the fake rdma-core, for {@link PostingCost}. */
final class PostedRequests {
  private static final int BATCH = 16;
  private static final int REQUESTS = 2048;
  private static final int SIZE = 64;
  private static final int WARM_UP = 4000;
  private static final int ROUNDS = 4000;

  /** Ways to post requests: batches of 16, in which only the last send is signaled. */
  enum Way {
    BARE_CALL(false, false, false),
    SEND(false, false, false),
    SENDS_LINKED(false, false, true),
    INLINE_SEND(false, true, false),
    INLINE_SENDS_LINKED(false, true, true),
    RECEIVE(true, false, false),
    RECEIVES_LINKED(true, false, true);

    private final boolean receives;
    private final boolean inline;
    private final boolean linked;

    Way(boolean receives, boolean inline, boolean linked) {
      this.receives = receives;
      this.inline = inline;
      this.linked = linked;
    }
  }

  private final Way way;
  private final FakeConnection link;
  private final DisniQueuePair client;
  private final DisniQueuePair server;
  private final ByteBuffer bytes = ByteBuffer.allocateDirect(SIZE);
  private final MemoryRegion region;
  private final long address;
  private final int key;
  private final SendWorkRequest[] sends = new SendWorkRequest[BATCH];
  private final ReceiveWorkRequest[] receives = new ReceiveWorkRequest[BATCH];
  private final WorkCompletion[] completions = WorkCompletion.array(64);
  private final SendWorkRequest ping = new SendWorkRequest();

  private PostedRequests(Way way) throws InterruptedException {
    this.way = way;
    FakeRdmaCore.assumeLoaded();
    link = new FakeConnection(URI.create("disni://10.0.1.1:0"), "", false, REQUESTS, SIZE);
    client = (DisniQueuePair) link.client;
    server = (DisniQueuePair) link.server;
    region = link.domain.register(bytes, Set.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE));
    address = region.address();
    key = region.lkey();
    for (int i = 0; i < BATCH; i++) {
      sends[i] = new SendWorkRequest();
      receives[i] = new ReceiveWorkRequest();
    }
  }

  /** {@code PostedRequests WAY}: prints the three measured numbers. */
  public static void main(String... arguments) throws Exception {
    PostedRequests cost = new PostedRequests(Way.valueOf(arguments[0]));
    double[] measured = cost.measure();
    System.out.printf(Locale.ROOT, "%.1f %.1f %.3f%n", measured[0], measured[1], measured[2]);
    cost.region.close();
    cost.link.close();
  }

  /** Returns nanoseconds per request, nanoseconds in the driver alone, and allocated bytes. */
  private double[] measure() {
    ThreadMXBean thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    Chain chain = nativeChain();
    for (int i = 0; i < WARM_UP; i++) {
      post();
      drain();
      drive(chain);
      drain();
    }
    long[] all = new long[ROUNDS];
    long[] driver = new long[ROUNDS];
    long allocated = 0;
    for (int i = 0; i < ROUNDS; i++) {
      long before = thread.getCurrentThreadAllocatedBytes();
      long start = System.nanoTime();
      post();
      all[i] = System.nanoTime() - start;
      allocated += thread.getCurrentThreadAllocatedBytes() - before;
      drain();
      start = System.nanoTime();
      drive(chain);
      driver[i] = System.nanoTime() - start;
      drain();
    }
    return new double[] {
      median(all) / REQUESTS, median(driver) / REQUESTS, (double) allocated / ROUNDS / REQUESTS
    };
  }

  private static double median(long[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }

  private void post() {
    for (int done = 0; done < REQUESTS; done += BATCH) {
      if (way == Way.BARE_CALL) {
        for (int i = 0; i < BATCH; i++) {
          FakePosting.nothing(client.pointer());
        }
      } else if (way.receives) {
        postReceives();
      } else {
        postSends();
      }
    }
  }

  private void postSends() {
    for (int i = 0; i < BATCH; i++) {
      SendWorkRequest request = sends[i].id(i).write(address, key);
      if (way.inline) {
        request.inline(bytes);
      } else {
        request.buffer(address, SIZE, key);
      }
      if (i == BATCH - 1) {
        request.signaled();
      }
      request.next(way.linked && i < BATCH - 1 ? sends[i + 1] : null);
      if (!way.linked) {
        client.postSend(request);
      }
    }
    if (way.linked) {
      client.postSend(sends[0]);
    }
  }

  private void postReceives() {
    for (int i = 0; i < BATCH; i++) {
      ReceiveWorkRequest request = receives[i].id(i).buffer(address, SIZE, key);
      request.next(way.linked && i < BATCH - 1 ? receives[i + 1] : null);
      if (!way.linked) {
        server.postReceive(request);
      }
    }
    if (way.linked) {
      server.postReceive(receives[0]);
    }
  }

  /** Returns the same requests in the driver's format. */
  private Chain nativeChain() {
    if (way.receives) {
      ReceiveBatch batch = new ReceiveBatch(1, false);
      for (int i = 0; i < BATCH; i++) {
        batch.add(receives[i].buffer(address, SIZE, key), 0);
      }
      return batch.chain();
    }
    SendBatch batch = new SendBatch(1, SIZE, DeviceQuirks.of(0x02c9, 0));
    for (int i = 0; i < BATCH; i++) {
      SendWorkRequest request = sends[i].write(address, key);
      if (way.inline) {
        request.inline(bytes);
      } else {
        request.buffer(address, SIZE, key);
      }
      batch.add(i == BATCH - 1 ? request.signaled() : request, 0);
    }
    return batch.chain();
  }

  private void drive(Chain chain) {
    if (way != Way.BARE_CALL) {
      DisniQueuePair pair = way.receives ? server : client;
      int error =
          FakePosting.drive(
              pair.pointer(), chain.address(), way.receives, way.linked, REQUESTS / BATCH);
      assertThat(error).isZero();
    }
  }

  /** Completes and polls all posted requests. */
  private void drain() {
    if (way.receives) {
      for (int i = 1; i <= REQUESTS; i++) {
        ping.send().buffer(address, 0, key);
        client.postSend(i % BATCH == 0 ? ping.signaled() : ping);
      }
    }
    while (link.completions.poll(completions) > 0) {
      assertThat(completions[0].isSuccess()).isTrue();
    }
  }
}
