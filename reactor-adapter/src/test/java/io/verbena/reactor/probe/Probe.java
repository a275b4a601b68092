// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.probe;

import com.sun.management.ThreadMXBean;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.verbena.PollMode;
import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RemoteMemory;
import io.verbena.reactor.testing.Ends;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;

/**
 * Measures messages of 64 B, 8 KiB and 64 KiB one way, round trips of 64 B, and reads of 4 and 64
 * KiB, and prints a line for each. Arguments: which of them (all by default), poll mode.
 */
public final class Probe {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final int ROUNDS = 6;

  private Probe() {}

  public static void main(String[] args) throws Exception {
    String which = args.length > 0 ? args[0] : "all";
    PollMode mode = args.length > 1 ? PollMode.valueOf(args[1]) : PollMode.BUSY;
    RdmaOptions.Builder options = RdmaOptions.builder().pollMode(mode);
    if (args.length > 2) {
      options.window(Integer.parseInt(args[2]));
    }
    boolean all = which.equals("all");
    if (all || which.equals("small")) {
      oneWay(options, 64, 20_000_000);
    }
    if (all || which.equals("medium")) {
      oneWay(options, 8192, 2_000_000);
    }
    if (all || which.equals("large")) {
      oneWay(options, 65_536, 500_000);
    }
    if (all || which.equals("ping")) {
      pingPong(options, mode == PollMode.BUSY ? 1_000_000 : 50_000);
    }
    if (all || which.equals("read")) {
      reads(options, 4096, 5_000_000);
      reads(options, 65_536, 500_000);
    }
  }

  private static long allocated() {
    return Arrays.stream(THREADS.getThreadAllocatedBytes(THREADS.getAllThreadIds())).sum();
  }

  private static void report(String what, long operations, long nanos, long bytes, int size) {
    System.out.printf(
        "%-28s %8.1f ns  %8.3f M/s  %7.2f GB/s  %6.1f B/op%n",
        what,
        (double) nanos / operations,
        operations * 1e3 / nanos,
        (double) operations * size / nanos,
        (double) bytes / operations);
  }

  private static void oneWay(RdmaOptions.Builder options, int size, int count) throws Exception {
    try (Ends ends = Ends.create(options)) {
      Ends.Pair pair = ends.connect();
      ByteBufAllocator allocator = pair.client().memory().allocator();
      for (int round = 0; round < ROUNDS; round++) {
        CountDownLatch done = new CountDownLatch(1);
        long bytes = allocated();
        long start = System.nanoTime();
        pair.server().receive().subscribe(new Sink(count, done));
        pair.client()
            .send(
                Flux.range(0, count)
                    .map(
                        n ->
                            allocator
                                .directBuffer(size, size)
                                .setLong(0, n)
                                .setLong(size - 8, n)
                                .writerIndex(size)))
            .subscribe();
        if (!done.await(60, TimeUnit.SECONDS)) {
          throw new AssertionError("stalled");
        }
        report(size + " B one way", count, System.nanoTime() - start, allocated() - bytes, size);
      }
    }
  }

  /** Checks and counts messages. */
  private static final class Sink extends BaseSubscriber<ByteBuf> {
    private final int count;
    private final CountDownLatch done;
    private int next;

    Sink(int count, CountDownLatch done) {
      this.count = count;
      this.done = done;
    }

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      subscription.request(count);
    }

    @Override
    protected void hookOnNext(ByteBuf message) {
      int size = message.readableBytes();
      if (message.getLong(0) != next || message.getLong(size - 8) != next) {
        throw new AssertionError("message " + next + " is " + message.getLong(0));
      }
      message.release();
      if (++next == count) {
        cancel();
        done.countDown();
      }
    }
  }

  private static void pingPong(RdmaOptions.Builder options, int count) throws Exception {
    try (Ends ends = Ends.create(options)) {
      Ends.Pair pair = ends.connect();
      pair.server().send(pair.server().receive()).subscribe();
      for (int round = 0; round < ROUNDS; round++) {
        long[] nanos = new long[count];
        CountDownLatch done = new CountDownLatch(1);
        long bytes = allocated();
        long start = System.nanoTime();
        pair.client().send(new Rally(pair.client(), nanos, done)).subscribe();
        if (!done.await(60, TimeUnit.SECONDS)) {
          throw new AssertionError("stalled");
        }
        long time = System.nanoTime() - start;
        Arrays.sort(nanos);
        report(
            "64 B round trip, p50 " + nanos[count / 2] + " p99 " + nanos[count * 99 / 100],
            count,
            time,
            allocated() - bytes,
            64);
      }
    }
  }

  /** Sends the next message when the previous one came back. */
  private static final class Rally extends Flux<ByteBuf> implements Subscription {
    private final RdmaConnection connection;
    private final ByteBufAllocator allocator;
    private final long[] nanos;
    private final CountDownLatch done;
    private reactor.core.CoreSubscriber<? super ByteBuf> sender;
    private int next;
    private long sent;

    Rally(RdmaConnection connection, long[] nanos, CountDownLatch done) {
      this.connection = connection;
      this.nanos = nanos;
      this.done = done;
      allocator = connection.memory().allocator();
    }

    @Override
    public void subscribe(reactor.core.CoreSubscriber<? super ByteBuf> actual) {
      sender = actual;
      actual.onSubscribe(this);
      connection
          .receive()
          .subscribe(
              new BaseSubscriber<>() {
                @Override
                protected void hookOnNext(ByteBuf message) {
                  message.release();
                  long now = System.nanoTime();
                  nanos[next++] = now - sent;
                  if (next == nanos.length) {
                    cancel();
                    sender.onComplete();
                    done.countDown();
                  } else {
                    send(now);
                  }
                }
              });
      send(System.nanoTime());
    }

    private void send(long now) {
      sent = now;
      sender.onNext(allocator.directBuffer(64, 64).setLong(0, next).writerIndex(64));
    }

    @Override
    public void request(long n) {
      // One message at a time is always within the demand.
    }

    @Override
    public void cancel() {
      done.countDown();
    }
  }

  private static void reads(RdmaOptions.Builder options, int size, int count) throws Exception {
    try (Ends ends = Ends.create(options)) {
      Ends.Pair pair = ends.connect();
      ByteBuffer memory = ByteBuffer.allocateDirect(1 << 20);
      try (RdmaMemory.Region region =
          pair.server().memory().register(memory, Set.of(RemoteMemory.Right.READ))) {
        RemoteMemory token = region.token().slice(0, size);
        ByteBuf into = pair.client().memory().allocator().directBuffer(size, size);
        for (int round = 0; round < ROUNDS; round++) {
          CountDownLatch done = new CountDownLatch(1);
          long bytes = allocated();
          long start = System.nanoTime();
          pair.client()
              .read(token, into)
              .doOnSuccess(ignored -> into.clear())
              .repeat(count - 1L)
              .subscribe(null, Throwable::printStackTrace, done::countDown);
          if (!done.await(60, TimeUnit.SECONDS)) {
            throw new AssertionError("stalled");
          }
          report(
              "read " + size + " into",
              count,
              System.nanoTime() - start,
              allocated() - bytes,
              size);
        }
        into.release();
        for (int round = 0; round < ROUNDS; round++) {
          CountDownLatch done = new CountDownLatch(1);
          long bytes = allocated();
          long start = System.nanoTime();
          pair.client()
              .read(token)
              .repeat(count - 1L)
              .subscribe(ByteBuf::release, Throwable::printStackTrace, done::countDown);
          if (!done.await(60, TimeUnit.SECONDS)) {
            throw new AssertionError("stalled");
          }
          report("read " + size, count, System.nanoTime() - start, allocated() - bytes, size);
        }
      }
    }
  }
}
