// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.verbena.meters.ConnectionMeter;
import io.verbena.meters.ConnectionState;
import io.verbena.meters.Credit;
import io.verbena.meters.HcaMeter;
import io.verbena.meters.MeteredHca;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Device;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsProviders;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the work that meters add to a connection's thread. */
class DataPathTest {
  private static final URI ADDRESS = URI.create("emulated://meters");
  private static final int SLOTS = 64;
  private static final int OPERATIONS = 50_000;

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final Device device = VerbsProviders.find(ADDRESS).open(ADDRESS);
  private final HcaMeter hca =
      new VerbenaMeters(registry)
          .hca(new MeteredHca("test", "emulated", device, () -> 5, 7, Set.of(Credit.RECEIVE)));
  private final ConnectionMeter connection = hca.connection(new State(), SLOTS);

  private record State() implements ConnectionState {
    @Override
    public int sendQueueDepth() {
      return 3;
    }

    @Override
    public int sendQueueLimit() {
      return 4;
    }

    @Override
    public int credits(Credit kind) {
      return 6;
    }
  }

  @AfterEach
  void close() {
    connection.close();
    hca.close();
    device.close();
  }

  @Test
  void allocatesNothing() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    SendWorkRequest read = new SendWorkRequest().read(1, 2).buffer(3, 100, 4);
    work(read);
    long before = threads.getCurrentThreadAllocatedBytes();
    work(read);

    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(OPERATIONS / 10);
  }

  private void work(SendWorkRequest request) {
    for (int i = 0; i < OPERATIONS; i++) {
      connection.posted(i & SLOTS - 1, request);
      connection.completed(i & SLOTS - 1, CompletionStatus.SUCCESS);
      connection.sent(10);
      connection.received(10);
      hca.polled(1);
    }
  }

  @Test
  void timesEachRequestOnceAndByHowItEnded() {
    SendWorkRequest read = new SendWorkRequest().read(1, 2).buffer(3, 100, 4);
    connection.posted(0, read);
    connection.posted(1, read);
    connection.posted(2, read);
    connection.forget(2);
    connection.completed(0, CompletionStatus.SUCCESS);
    connection.completed(0, CompletionStatus.SUCCESS);
    connection.completed(1, CompletionStatus.REM_ACCESS_ERR);
    connection.completed(2, CompletionStatus.SUCCESS);

    assertThat(registry.get("verbena.operations").tag("status", "success").timer())
        .satisfies(timer -> assertThat(timer.count()).isOne())
        .satisfies(timer -> assertThat(timer.totalTime(TimeUnit.NANOSECONDS)).isPositive());
    assertThat(registry.get("verbena.operations").tag("status", "rem_access_err").timer().count())
        .isOne();
    assertThat(moved("read")).isEqualTo(100);
    assertThat(moved("write")).isZero();
  }

  private double moved(String operation) {
    return registry
        .get("verbena.operations.data")
        .tag("operation", operation)
        .functionCounter()
        .count();
  }

  @Test
  void keepsTheTotalsOfAClosedConnectionAndNothingElse() {
    connection.sent(10);
    connection.received(20);
    assertThat(gauge("connections")).isOne();
    assertThat(gauge("send.queue.depth")).isEqualTo(3);
    assertThat(gauge("send.queue.limit")).isEqualTo(4);
    assertThat(gauge("credits")).isEqualTo(6);
    assertThat(gauge("memory.registered")).isEqualTo(5);
    assertThat(gauge("memory.limit")).isEqualTo(7);
    connection.close();
    connection.close();
    hca.close();
    int meters = registry.getMeters().size();

    assertThat(registry.get("verbena.data").tag("direction", "out").functionCounter().count())
        .isEqualTo(10);
    assertThat(registry.get("verbena.data").tag("direction", "in").functionCounter().count())
        .isEqualTo(20);
    assertThat(gauge("connections")).isZero();
    assertThat(gauge("send.queue.depth")).isZero();
    assertThat(gauge("credits")).isZero();
    assertThat(gauge("memory.registered")).isZero();

    hca.connection(new State(), SLOTS).close();
    assertThat(registry.getMeters()).hasSize(meters);
  }

  private double gauge(String name) {
    return registry.get("verbena." + name).gauge().value();
  }

  @Test
  void countsLoopsThatAreHeldUp() {
    HcaMeter opened =
        new VerbenaMeters(registry)
            .hca(new MeteredHca("test", "stalled", device, () -> 5, 7, Set.of()));
    opened.loopStalled(1_000_000);
    opened.loopStalled(2_000_000);

    assertThat(registry.get("verbena.loop.stalls").tag("provider", "stalled").counter().count())
        .isEqualTo(2);
    opened.close();
  }

  @Test
  void countsSilentPeersThatWereAsked() {
    HcaMeter opened =
        new VerbenaMeters(registry)
            .hca(new MeteredHca("test", "silent", device, () -> 5, 7, Set.of()));
    opened.peerAsked();
    opened.peerAsked();
    opened.peerFoundDead();

    assertThat(keepAlive("questions")).isEqualTo(2);
    assertThat(keepAlive("dead")).isEqualTo(1);
    opened.close();
  }

  private double keepAlive(String name) {
    return registry.get("verbena.keep.alive." + name).tag("provider", "silent").counter().count();
  }

  @Test
  void leavesTheRegistryAsItWas() {
    SimpleMeterRegistry other = new SimpleMeterRegistry();
    other.counter("own");
    VerbenaMeters meters = new VerbenaMeters(other);
    HcaMeter opened = meters.hca(new MeteredHca("test", "emulated", device, () -> 5, 7, Set.of()));
    opened.failed("read", null, new IllegalStateException());
    assertThat(other.getMeters()).hasSizeGreaterThan(10);

    meters.close();
    opened.failed("write", null, new IllegalStateException());

    assertThat(other.getMeters()).hasSize(1);
    opened.close();
  }
}
