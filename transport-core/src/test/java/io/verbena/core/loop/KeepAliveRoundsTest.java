// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import io.verbena.meters.HcaMeter;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProviders;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class KeepAliveRoundsTest {
  private static final URI ADDRESS = URI.create("emulated://keep-alive-rounds");
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final Device device = VerbsProviders.find(ADDRESS).open(ADDRESS);
  private final Clock clock = new Clock();

  @AfterEach
  void close() {
    device.close();
  }

  private CompletionLoop loop(Duration keepAlive) {
    CompletionLoop loop =
        new CompletionLoop(
            Thread::new,
            device,
            RdmaOptions.builder().keepAlive(keepAlive).build(),
            clock,
            HcaMeter.OFF);
    loop.start();
    return loop;
  }

  private void end(CompletionLoop loop) {
    loop.stop();
    clock.advance(Duration.ZERO);
    clock.advance(Duration.ZERO);
    assertThat(clock.isOver()).isTrue();
  }

  @Test
  void goesRoundFourTimesInEachKeepAlive() {
    CompletionLoop loop = loop(Duration.ofSeconds(4));
    CountingMember member = new CountingMember(loop, false);
    clock.advance(Duration.ofMillis(999));
    assertThat(member.rounds()).isZero();

    for (int round = 1; round <= 8; round++) {
      clock.advance(Duration.ofSeconds(1));

      assertThat(member.rounds()).isEqualTo(round);
    }
    end(loop);
  }

  @Test
  void pausesWhereManyPeersAreAsked() {
    CompletionLoop loop = loop(Duration.ofSeconds(4));
    List<CountingMember> members = new ArrayList<>();
    for (int i = 0; i < 2 * KeepAliveRounds.MOST_ASKED + 1; i++) {
      members.add(new CountingMember(loop, true));
    }

    clock.advance(Duration.ofSeconds(1));
    assertThat(sum(members)).isEqualTo(KeepAliveRounds.MOST_ASKED);
    clock.advance(Duration.ofMillis(1));
    assertThat(sum(members)).isEqualTo(2 * KeepAliveRounds.MOST_ASKED);
    clock.advance(Duration.ofMillis(1));
    assertThat(members).allMatch(member -> member.rounds() == 1);

    // The pause does not delay the next round.
    clock.advance(Duration.ofMillis(998));
    assertThat(sum(members)).isEqualTo(members.size() + KeepAliveRounds.MOST_ASKED);
    end(loop);
  }

  private static int sum(List<CountingMember> members) {
    return members.stream().mapToInt(CountingMember::rounds).sum();
  }

  @Test
  void neverGoesRoundWithoutKeepAlive() {
    CompletionLoop loop = loop(Duration.ZERO);
    CountingMember member = new CountingMember(loop, false);

    clock.advance(Duration.ofDays(365 * 100));

    assertThat(member.rounds()).isZero();
    end(loop);
  }

  @Test
  void takesTheLongestKeepAlive() {
    CompletionLoop loop = loop(Duration.ofNanos(Long.MAX_VALUE));
    CountingMember member = new CountingMember(loop, false);

    clock.advance(Duration.ofDays(365 * 70));
    assertThat(member.rounds()).isZero();
    clock.advance(Duration.ofDays(365 * 10));

    assertThat(member.rounds()).isOne();
    end(loop);
  }

  @Test
  void aLoopWithoutWorkSleepsFromRoundToRound() throws InterruptedException {
    // The shortest ticks, so that wake-ups for ticks would raise the count of cycles.
    RdmaOptions options =
        RdmaOptions.builder()
            .pollMode(PollMode.EVENT)
            .operationTimeout(Duration.ofNanos(1))
            .keepAlive(Duration.ofMillis(200))
            .build();
    CompletionLoop loop = new CompletionLoop(Thread::new, device, options, null, HcaMeter.OFF);
    AtomicInteger cycles = new AtomicInteger();
    loop.start();
    loop.execute(
        () -> {
          int first = loop.cycles();
          new CountingMember(loop, false).onRound(10, () -> cycles.set(loop.cycles() - first));
        });

    await().atMost(LIMIT).until(() -> cycles.get() > 0);

    // One cycle per round, plus spurious wake-ups; 2,500 ticks pass meanwhile.
    assertThat(cycles.get()).isLessThan(100);
    loop.stop();
    assertThat(loop.join(LIMIT.toNanos())).isTrue();
  }

  /** A clock set by the test; each change runs the loop once. */
  private static final class Clock implements DutyCycleInvoker {
    private long now = Long.MAX_VALUE - 5;
    private @Nullable DutyCycle cycle;

    void advance(Duration time) {
      now += time.toNanos();
      if (cycle != null) {
        cycle.doWork();
      }
    }

    boolean isOver() {
      return cycle != null && cycle.isOver();
    }

    @Override
    public long nanoTime() {
      return now;
    }

    @Override
    public void add(DutyCycle dutyCycle) {
      cycle = dutyCycle;
    }

    @Override
    public boolean awaitFor(BooleanSupplier done, long nanos) {
      return done.getAsBoolean();
    }
  }

  /** Counts rounds and answers whether it asked its peer in a round. */
  private static final class CountingMember implements LoopMember {
    private final CompletionLoop loop;
    private final Membership membership;
    private final boolean asks;
    private int rounds;
    private int awaited;
    private @Nullable Runnable action;

    CountingMember(CompletionLoop loop, boolean asks) {
      this.loop = loop;
      this.asks = asks;
      membership = loop.queues().join(this, 1);
    }

    int rounds() {
      return rounds;
    }

    void onRound(int round, Runnable run) {
      awaited = round;
      action = run;
    }

    @Override
    public void completed(WorkCompletion completion) {}

    @Override
    public boolean keepAlive() {
      rounds++;
      if (rounds == awaited && action != null) {
        action.run();
      }
      return asks;
    }

    @Override
    public void shutDown(Throwable cause, boolean now) {
      loop.queues().leave(membership);
    }
  }
}
