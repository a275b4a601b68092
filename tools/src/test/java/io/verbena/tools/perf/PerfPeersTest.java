// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.tools.end.End;
import io.verbena.tools.end.TestAddress;
import io.verbena.tools.end.TestQueuePair;
import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.Access;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;
import java.io.EOFException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests servers of {@code perf -R} whose clients disconnect too early, or break the protocol. */
class PerfPeersTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  /** The limit of a server whose client measures for longer. */
  private static final Duration SHORT_LIMIT = Duration.ofSeconds(3);

  private static final String SUCCEEDED = "the server succeeded";

  private final CountDownLatch listening = new CountDownLatch(1);
  private final CompletableFuture<Throwable> ended = new CompletableFuture<>();

  /** A client's part over the queue pair on which both ends exchange their addresses. */
  @FunctionalInterface
  private interface Talk {
    void over(ManagedQueuePairs pairs, QueuePairChannel channel) throws Exception;
  }

  private static PerfPlan plan(URI address, Verb verb, Measure measure) {
    return plan(address, verb, measure, false, LIMIT);
  }

  private static PerfPlan plan(
      @Nullable URI address, Verb verb, Measure measure, boolean both, Duration limit) {
    return new PerfPlan(
        verb,
        measure,
        QueuePairType.RC,
        AtomicType.FETCH_AND_ADD,
        false,
        64,
        100,
        Duration.ZERO,
        1,
        both,
        false,
        address,
        8,
        8,
        1,
        null,
        0,
        null,
        null,
        14,
        false,
        limit);
  }

  /** Runs a server in a thread of its own; returns once it listens. */
  private void startServer(PerfPlan plan) throws InterruptedException {
    startServer(plan, plan.managed(), null);
  }

  private void startServer(PerfPlan plan, URI device, @Nullable Socket socket)
      throws InterruptedException {
    Thread thread =
        new Thread(
            () -> {
              try {
                new PerfRun(plan, device, false, false, null).run(socket, listening::countDown);
                ended.complete(new AssertionError(SUCCEEDED));
              } catch (Throwable e) {
                ended.complete(e);
              }
            },
            "server");
    thread.setDaemon(true);
    thread.start();
    assertThat(listening.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  private Throwable howItEnded() throws Exception {
    return ended.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
  }

  private Throwable afterTalk(String name, Talk talk) throws Exception {
    PerfPlan plan = plan(URI.create("emulated://" + name), Verb.SEND, Measure.BW);
    startServer(plan);
    URI device = plan.managed();
    try (End end = End.open(device, 4096, Set.of(Access.LOCAL_WRITE), 4, 4, false)) {
      Gid gid = end.device().port().gids().get(0);
      ManagedQueuePairs pairs = new ManagedQueuePairs(end, device, gid, true, plan);
      talk.over(pairs, pairs.meet());
    }
    return howItEnded();
  }

  @Test
  void aClientThatOnlyConnectsHasDisconnected() throws Exception {
    assertThat(afterTalk("comes-and-goes", (pairs, channel) -> {}))
        .isInstanceOf(EOFException.class)
        .hasMessage("the other end has disconnected");
  }

  /** The message arrives although its sender has disconnected. */
  @ParameterizedTest
  @CsvSource({
    "0, message of 0 bytes (expected: 16)",
    "3, message of 3 bytes (expected: 16)",
    "56, message of 56 bytes (expected: 16)",
  })
  void aVersionOfAnotherLengthIsRefused(int length, String message) throws Exception {
    assertThat(afterTalk("says-" + length, (pairs, channel) -> channel.write(new byte[length])))
        .isInstanceOf(ToolFailure.class)
        .hasMessage(message);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3})
  void aMessageOfAnotherLengthIsRefusedDuringTheTest(int length) throws Exception {
    Talk talk =
        (pairs, channel) -> {
          PerftestExchange exchange = PerftestExchange.agree(channel, true, Mtu.MTU_1024);
          exchange.barrier();
          TestQueuePair pair = pairs.connect(1).get(0);
          exchange.barrier();
          exchange.shakeHands(List.of(new PerftestAddress(pair.here(), 1, 0, 0)));
          exchange.barrier();
          exchange.shakeHands();
          exchange.barrier();
          channel.write(new byte[length]);
          howItEnded();
        };

    assertThat(afterTalk("says-later-" + length, talk))
        .isInstanceOf(ToolFailure.class)
        .hasMessage("message of " + length + " bytes (expected: 56 or 8)");
  }

  /** The client closes its end, with all connections, when the test would begin. */
  @ParameterizedTest
  @CsvSource({"SEND, BW", "SEND, LAT", "WRITE, BW", "WRITE, LAT", "READ, BW"})
  void aClientThatDiesOnceConnectedEndsItsServer(Verb verb, Measure measure) throws Exception {
    PerfPlan plan = plan(URI.create("emulated://dies-" + verb + measure), verb, measure);
    startServer(plan);

    PerfRun client = new PerfRun(plan, plan.managed(), true, false, new Dying());
    assertThatThrownBy(() -> client.run(null, () -> {})).hasMessage("the client dies");

    assertThat(howItEnded())
        .isInstanceOf(EOFException.class)
        .hasMessage("the other end has disconnected");
  }

  /** Meanwhile the server receives no message. */
  @ParameterizedTest
  @CsvSource({"READ, LAT, false", "WRITE, BW, false", "WRITE, BW, true"})
  void aClientMayMeasureForLongerThanItsServerWaitsForAMessage(
      Verb verb, Measure measure, boolean both) throws Exception {
    URI device = URI.create("emulated://lasts-" + verb + both);
    PerfPlan plan = plan(device, verb, measure, both, LIMIT);
    startServer(plan(device, verb, measure, both, SHORT_LIMIT));

    new PerfRun(plan, device, true, false, new Lasting()).run(null, () -> {});

    assertThat(howItEnded()).hasMessage(SUCCEEDED);
  }

  @Test
  void aClientMayMeasureForLongerThanItsServerWaitsForAMessageOverTcp() throws Exception {
    URI device = URI.create("emulated://lasts-over-tcp");
    PerfPlan plan = plan(null, Verb.READ, Measure.BW, false, LIMIT);
    TestAddress at = new TestAddress(device, null, 0, SHORT_LIMIT);
    try (ServerSocket listener = at.listen(true);
        Socket socket = new TestAddress(device, null, 0, LIMIT).clientOf(listener).connect();
        Socket accepted = at.accept(listener)) {
      startServer(plan(null, Verb.READ, Measure.BW, false, SHORT_LIMIT), device, accepted);

      new PerfRun(plan, device, true, false, new Lasting()).run(socket, () -> {});

      assertThat(howItEnded()).hasMessage(SUCCEEDED);
    }
  }

  /** Returns its result later than a server with the short limit would give up. */
  private final class Lasting implements Output {
    @Override
    public void begin(PerfPlan plan, List<String> facts, String titles) {}

    @Override
    public void result(Result result) {
      long longer = SHORT_LIMIT.plusMillis(500).toMillis();
      assertThatThrownBy(() -> ended.get(longer, TimeUnit.MILLISECONDS))
          .describedAs("the server ended: " + ended)
          .isInstanceOf(TimeoutException.class);
    }

    @Override
    public void end() {}
  }

  private static final class Dying implements Output {
    @Override
    public void begin(PerfPlan plan, List<String> facts, String titles) {
      throw new IllegalStateException("the client dies");
    }

    @Override
    public void result(Result result) {}

    @Override
    public void end() {}
  }
}
