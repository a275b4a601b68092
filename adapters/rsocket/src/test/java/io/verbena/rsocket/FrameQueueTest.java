// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.reactor.testing.Ends;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

class FrameQueueTest {
  private static final int LIMIT = 10 * FrameQueue.LEAST_COST;
  private static final int THREADS = 8;
  private static final int FRAMES = 20_000;

  private final FrameQueue queue = new FrameQueue(LIMIT);

  private static ByteBuf frame(int content) {
    return Unpooled.buffer(4, 4).writeInt(content);
  }

  private static Taker take(FrameQueue queue, long demand) {
    Taker taker = new Taker(demand);
    queue.subscribe(taker);
    return taker;
  }

  /** Keeps the contents of the frames that it receives. */
  private static final class Taker extends BaseSubscriber<ByteBuf> {
    private final long demand;
    final Queue<Integer> contents = new ConcurrentLinkedQueue<>();
    volatile boolean completed;

    Taker(long demand) {
      this.demand = demand;
    }

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      if (demand > 0) {
        subscription.request(demand);
      }
    }

    @Override
    protected void hookOnNext(ByteBuf frame) {
      contents.add(frame.readInt());
      frame.release();
    }

    @Override
    protected void hookOnComplete() {
      completed = true;
    }
  }

  @Test
  void handsOnWhatIsAskedForAndNoMore() {
    Taker taker = take(queue, 2);
    for (int i = 0; i < 4; i++) {
      queue.offer(frame(i), false);
    }
    assertThat(taker.contents).containsExactly(0, 1);
    assertThat(queue.bytes()).isEqualTo(2 * FrameQueue.LEAST_COST);

    taker.request(1);
    assertThat(taker.contents).containsExactly(0, 1, 2);
    taker.cancel();
  }

  @Test
  void lastsUntilSomebodySubscribes() {
    queue.offer(frame(1), false);
    assertThat(take(queue, 1).contents).containsExactly(1);
  }

  @Test
  void letsFramesOfTheConnectionGoAhead() {
    queue.offer(frame(1), false);
    queue.offer(frame(2), true);
    assertThat(take(queue, Long.MAX_VALUE).contents).containsExactly(2, 1);
  }

  @Test
  void refusesWhatPassesTheLimit() {
    for (int i = 0; i < 10; i++) {
      assertThat(queue.offer(frame(i), false)).isZero();
    }
    ByteBuf refused = frame(10);
    assertThat(queue.offer(refused, false)).isGreaterThan(queue.limit());
    assertThat(refused.refCnt()).isZero();
    assertThat(queue.bytes()).isEqualTo(LIMIT);

    take(queue, 1).cancel();
    assertThat(queue.bytes()).isZero();
  }

  @Test
  void countsLongFramesByTheirLength() {
    ByteBuf frame = Unpooled.buffer(LIMIT, LIMIT).writeZero(LIMIT);
    assertThat(queue.offer(frame, false)).isZero();
    assertThat(queue.bytes()).isEqualTo(LIMIT);
    assertThat(queue.offer(frame(0), false)).isGreaterThan(queue.limit());
    queue.drop();
    assertThat(frame.refCnt()).isZero();
  }

  @Test
  void completesBehindTheLastFrame() {
    Taker taker = take(queue, 1);
    queue.offer(frame(0), false);
    queue.offer(frame(1), false);
    queue.completeWith(frame(2));
    assertThat(taker.completed).isFalse();

    taker.request(2);
    assertThat(taker.contents).containsExactly(0, 1, 2);
    assertThat(taker.completed).isTrue();
  }

  @Test
  void hasRoomForTheLastFrameAlways() {
    for (int i = 0; i < 10; i++) {
      queue.offer(frame(i), false);
    }
    queue.completeWith(frame(10));
    assertThat(take(queue, Long.MAX_VALUE).contents).hasSize(11).last().isEqualTo(10);
  }

  @Test
  void completesWithoutDemandWhereNothingIsLeft() {
    Taker taker = take(queue, 0);
    queue.complete();
    assertThat(taker.completed).isTrue();
  }

  @Test
  void releasesWhatItHoldsWhenItIsDropped() {
    Taker taker = take(queue, 0);
    ByteBuf held = frame(0);
    queue.offer(held, false);
    queue.drop();
    assertThat(held.refCnt()).isZero();
    assertThat(queue.bytes()).isZero();
    assertThat(taker.completed).isTrue();
  }

  @Test
  void releasesWhatComesTooLate() {
    queue.complete();
    ByteBuf late = frame(0);
    ByteBuf last = frame(1);
    assertThat(queue.offer(late, false)).isZero();
    queue.completeWith(last);
    assertThat(late.refCnt()).isZero();
    assertThat(last.refCnt()).isZero();
  }

  @Test
  void keepsTheOrderOfEachThread() throws InterruptedException {
    FrameQueue wide = new FrameQueue(Long.MAX_VALUE);
    Taker taker = take(wide, 1);
    CountDownLatch begin = new CountDownLatch(1);
    List<Thread> threads = new ArrayList<>();
    for (int thread = 0; thread < THREADS; thread++) {
      int stream = thread;
      threads.add(new Thread(() -> offerAll(wide, stream, begin)));
    }
    threads.forEach(Thread::start);
    begin.countDown();
    for (long asked = 1; asked < (long) THREADS * FRAMES; asked += 64) {
      taker.request(64);
    }
    await()
        .atMost(Ends.LIMIT)
        .untilAsserted(() -> assertThat(taker.contents).hasSize(THREADS * FRAMES));

    int[] next = new int[THREADS];
    for (int content : taker.contents) {
      assertThat(content / FRAMES).isBetween(0, THREADS - 1);
      assertThat(content % FRAMES).isEqualTo(next[content / FRAMES]++);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(wide.bytes()).isZero();
  }

  private static void offerAll(FrameQueue queue, int stream, CountDownLatch begin) {
    try {
      begin.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    for (int i = 0; i < FRAMES; i++) {
      queue.offer(frame(stream * FRAMES + i), false);
    }
  }

  @Test
  void losesNoReferenceWhereItEndsWhileThreadsOffer() throws InterruptedException {
    for (int round = 0; round < 200; round++) {
      FrameQueue wide = new FrameQueue(Long.MAX_VALUE);
      take(wide, 10);
      List<ByteBuf> frames = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        frames.add(frame(i));
      }
      Thread offering = new Thread(() -> frames.forEach(frame -> wide.offer(frame, false)));
      offering.start();
      wide.drop();
      offering.join();
      assertThat(frames).allSatisfy(frame -> assertThat(frame.refCnt()).isZero());
      assertThat(wide.bytes()).isZero();
    }
  }
}
