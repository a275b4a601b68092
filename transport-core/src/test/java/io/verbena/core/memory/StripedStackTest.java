// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class StripedStackTest {
  private final StripedStack<AtomicInteger> stack = new StripedStack<>();

  @Test
  void answersWhatThisThreadPutBackLast() {
    AtomicInteger first = new AtomicInteger();
    AtomicInteger last = new AtomicInteger();
    stack.push(first);
    stack.push(last);

    assertThat(stack.pop()).isSameAs(last);
    assertThat(stack.pop()).isSameAs(first);
    assertThat(stack.pop()).isNull();
  }

  @Test
  void findsWhatAnotherThreadPutBack() throws Exception {
    int count = 1000;
    Thread other = new Thread(() -> pushNew(count));
    other.start();
    other.join(10_000);

    for (int i = 0; i < count; i++) {
      assertThat(stack.pop()).isNotNull();
    }
    assertThat(stack.popSurely()).isNull();
  }

  @Test
  void drainsEverything() throws Exception {
    pushNew(3);
    Thread other = new Thread(() -> pushNew(4));
    other.start();
    other.join(10_000);

    List<AtomicInteger> drained = new ArrayList<>();
    stack.drainTo(drained);

    assertThat(drained).hasSize(7);
    assertThat(stack.popSurely()).isNull();
  }

  /**
   * Each item is marked while it is taken: no other thread may get it, and none may be lost. The
   * items are few, so threads keep taking from each other's stripes.
   */
  @Test
  void givesNoItemToTwoThreadsAndLosesNone() throws Exception {
    int items = 5;
    int rounds = 200_000;
    pushNew(items);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Callable<Integer>> tasks = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        tasks.add(() -> takeAndPutBack(rounds));
      }
      int collisions = 0;
      for (Future<Integer> result : threads.invokeAll(tasks, 60, TimeUnit.SECONDS)) {
        collisions += result.get();
      }
      assertThat(collisions).isZero();
    } finally {
      threads.shutdownNow();
    }
    List<AtomicInteger> drained = new ArrayList<>();
    stack.drainTo(drained);
    assertThat(drained).hasSize(items).doesNotHaveDuplicates();
  }

  private int takeAndPutBack(int rounds) {
    int collisions = 0;
    for (int i = 0; i < rounds; i++) {
      AtomicInteger one = stack.pop();
      AtomicInteger two = stack.pop();
      collisions += mark(one) + mark(two);
      putBack(one);
      putBack(two);
    }
    return collisions;
  }

  private static int mark(@Nullable AtomicInteger item) {
    return item == null || item.compareAndSet(0, 1) ? 0 : 1;
  }

  private void putBack(@Nullable AtomicInteger item) {
    if (item != null) {
      item.set(0);
      stack.push(item);
    }
  }

  private void pushNew(int count) {
    for (int i = 0; i < count; i++) {
      stack.push(new AtomicInteger());
    }
  }
}
