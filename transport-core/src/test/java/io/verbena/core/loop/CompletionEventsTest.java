// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.verbena.meters.HcaMeter;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProviders;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests channels that notify a listener of their events, and channels that do not. */
class CompletionEventsTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final URI ADDRESS = URI.create("emulated://completion-events");

  private final Device device = VerbsProviders.find(ADDRESS).open(ADDRESS);

  @AfterEach
  void close() {
    device.close();
  }

  private CompletionQueues<CompletionTarget> queuesOn(CompletionChannel channel) {
    return new CompletionQueues<>(device, channel, HcaMeter.OFF);
  }

  @Test
  void looksForWhatCameBefore() {
    Scripted channel = new Scripted(true);
    CompletionQueues<CompletionTarget> queues = queuesOn(channel);
    Acknowledged queue = new Acknowledged();
    channel.events.add(queue);
    CompletionEvents events = new CompletionEvents(channel, () -> {}, "events");

    assertThat(events.haveCome()).isTrue();
    events.take(queues);

    assertThat(queue.events).hasValue(1);
    assertThat(events.haveCome()).isFalse();
    events.close(queues);
  }

  @Test
  void isToldByTheChannel() {
    Scripted channel = new Scripted(true);
    CompletionQueues<CompletionTarget> queues = queuesOn(channel);
    AtomicInteger woken = new AtomicInteger();
    CompletionEvents events = new CompletionEvents(channel, woken::incrementAndGet, "events");
    events.take(queues);
    Acknowledged queue = new Acknowledged();

    channel.raise(queue);

    assertThat(woken).hasValue(1);
    assertThat(events.haveCome()).isTrue();
    events.take(queues);
    assertThat(queue.events).hasValue(1);
    events.close(queues);
  }

  @Test
  void awaitsAnEventOfAChannelThatTellsNothing() throws InterruptedException {
    Scripted channel = new Scripted(false);
    CompletionQueues<CompletionTarget> queues = queuesOn(channel);
    CountDownLatch woken = new CountDownLatch(1);
    CompletionEvents events = new CompletionEvents(channel, woken::countDown, "events");
    events.take(queues);
    Acknowledged queue = new Acknowledged();

    channel.raise(queue);

    assertThat(woken.await(LIMIT.toNanos(), TimeUnit.NANOSECONDS)).isTrue();
    assertThat(events.haveCome()).isTrue();
    events.take(queues);
    assertThat(queue.events).hasValue(1);
    events.close(queues);
    assertThat(channel.waiting).hasValue(0);
  }

  @Test
  void acknowledgesWhatComesWhileItCloses() {
    Scripted channel = new Scripted(false);
    CompletionQueues<CompletionTarget> queues = queuesOn(channel);
    CompletionEvents events = new CompletionEvents(channel, () -> {}, "events");
    await().atMost(LIMIT).until(() -> channel.waiting.get() == 1);
    Acknowledged queue = new Acknowledged();

    channel.raise(queue);
    events.close(queues);

    assertThat(queue.events.get() == 1 || channel.events.contains(queue)).isTrue();
  }

  @Test
  void tellsTheLoopOfAChannelThatFails() throws InterruptedException {
    Scripted channel = new Scripted(false);
    CompletionQueues<CompletionTarget> queues = queuesOn(channel);
    CountDownLatch woken = new CountDownLatch(1);
    CompletionEvents events = new CompletionEvents(channel, woken::countDown, "events");
    events.take(queues);

    channel.failing = true;
    channel.wakeup();

    assertThat(woken.await(LIMIT.toNanos(), TimeUnit.NANOSECONDS)).isTrue();
    assertThatThrownBy(() -> events.take(queues))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("the channel broke");
    events.close(queues);
  }

  /** A channel whose events the test raises. */
  private static final class Scripted implements CompletionChannel {
    private static final Acknowledged WAKEUP = new Acknowledged();

    final BlockingQueue<Acknowledged> events = new LinkedBlockingQueue<>();
    final AtomicInteger waiting = new AtomicInteger();
    volatile boolean failing;
    private final boolean tells;
    private @Nullable Runnable listener;

    Scripted(boolean tells) {
      this.tells = tells;
    }

    void raise(Acknowledged queue) {
      events.add(queue);
      Runnable told = listener;
      if (told != null) {
        told.run();
      }
    }

    @Override
    public boolean listen(Runnable listener) {
      this.listener = tells ? listener : null;
      return tells;
    }

    @Override
    public @Nullable CompletionQueue await(long timeoutNanos) throws InterruptedException {
      waiting.incrementAndGet();
      try {
        Acknowledged event = events.poll(timeoutNanos, TimeUnit.NANOSECONDS);
        if (failing) {
          throw new VerbsException(VerbsError.IO, "the channel broke");
        }
        return event == WAKEUP ? null : event;
      } finally {
        waiting.decrementAndGet();
      }
    }

    @Override
    public void wakeup() {
      events.add(WAKEUP);
    }

    @Override
    public void close() {}
  }

  /** A queue that counts acknowledged events. */
  private static final class Acknowledged implements CompletionQueue {
    final AtomicInteger events = new AtomicInteger();

    @Override
    public int depth() {
      return 1;
    }

    @Override
    public @Nullable CompletionChannel channel() {
      return null;
    }

    @Override
    public int poll(WorkCompletion[] completions) {
      return 0;
    }

    @Override
    public void arm(boolean solicitedOnly) {}

    @Override
    public void acknowledgeEvents(int count) {
      events.addAndGet(count);
    }

    @Override
    public void resize(int depth) {}

    @Override
    public void close() {}
  }
}
