// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.send;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.RdmaException;
import io.verbena.RdmaOptions;
import io.verbena.core.loop.CloseSteps;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.DutyCycleEnd;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.meters.HcaMeter;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.reactor.queue.LoopResources;
import io.verbena.reactor.testing.Ends;
import io.verbena.verbs.Device;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests frame numbers on a connection that has sent very many frames. */
class FramesInFlightTest {
  private static final URI ADDRESS = URI.create("emulated://frames-in-flight");

  private final RdmaOptions options = Ends.options().build();
  private final Device device = VerbsProviders.find(ADDRESS).open(ADDRESS);
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final RegisteredMemory memory = new RegisteredMemory(domain, options);
  private final CompletionLoop loop =
      new CompletionLoop(Thread::new, device, options, null, HcaMeter.OFF);
  private final SendFrames buffers =
      new SendFrames(
          new LoopResources(loop, memory, options, HcaMeter.OFF, new CloseSteps(), Runnable::run));

  @AfterEach
  void close() throws InterruptedException {
    loop.start();
    loop.stop();
    assertThat(loop.join(Ends.LIMIT.toNanos())).isTrue();
    loop.closeQueues();
    memory.close();
    domain.close();
    device.close();
  }

  private FramesInFlight from(long first) {
    return new FramesInFlight(
        buffers,
        new DutyCycleEnd(loop.dutyCycleEnds(), () -> {}),
        new FailureGuard(FailureGuard::drop, "peer"),
        first);
  }

  @Test
  void knowsThatAFrameArrivedHoweverManyCameBehindIt() {
    FramesInFlight frames = from((1L << 31) + 5);

    assertThat(frames.hasArrived(4, new Waiter())).isTrue();
  }

  @ParameterizedTest
  @ValueSource(longs = {(1L << 31) - 2, (1L << 32) - 2})
  void tellsOfEachFrameWhereNumbersOutgrowAnInt(long first) {
    FramesInFlight frames = from(first);
    List<SendFrame> opened = new ArrayList<>();
    List<Waiter> waiters = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      SendFrame frame = frames.open();
      Waiter waiter = new Waiter();
      assertThat(frames.hasArrived(frame.number, waiter)).isFalse();
      opened.add(frame);
      waiters.add(waiter);
    }

    opened.forEach(frames::arrived);

    assertThat(waiters).allSatisfy(each -> assertThat(each.arrivals).isOne());
    assertThat(frames.hasArrived(first, new Waiter())).isTrue();
    assertThat(frames.hasArrived(first + 4, new Waiter())).isTrue();
  }

  /** Counts how often it is notified. */
  private static final class Waiter implements FrameWaiter {
    private @Nullable FrameWaiter next;
    private int arrivals;

    @Override
    public void frameArrived() {
      arrivals++;
    }

    @Override
    public void frameLost(RdmaException error) {
      throw new AssertionError(error);
    }

    @Override
    public @Nullable FrameWaiter nextWaiter() {
      return next;
    }

    @Override
    public void nextWaiter(@Nullable FrameWaiter newNext) {
      next = newNext;
    }
  }
}
