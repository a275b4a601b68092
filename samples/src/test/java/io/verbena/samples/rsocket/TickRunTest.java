// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import io.rsocket.core.RSocketServer;
import io.verbena.samples.program.Addresses;
import io.verbena.samples.program.Job;
import io.verbena.samples.program.SampleServer;
import io.verbena.samples.report.Checks;
import io.verbena.samples.report.Progress;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class TickRunTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int FAST = 2_000;
  private static final int SLOW = 1_600;

  private final Ticks ticks = new Ticks();
  private final Checks checks = new Checks();

  @Test
  void overRdmaTheSenderGoesAtThePaceOfASlowSubscriber() {
    assertSlowed(run(URI.create("emulated://tick-run-test"), OverRdma::new));
  }

  @Test
  void overTcpTheSenderGoesAtThePaceOfASlowSubscriber() {
    assertSlowed(
        run(URI.create("tcp://localhost:0"), address -> new OverTcp(Addresses.socket(address))));
  }

  /**
   * A pause of 1 ms after every 16 ticks limits the rate to little more than 16 per millisecond.
   */
  private void assertSlowed(TickRun.Result result) {
    assertThat(checks.failed()).isEmpty();
    assertThat(result.slow()).isPositive().isLessThan(17_000);
    assertThat(result.lead()).isBetween(1L, (long) TickRun.RATE);
  }

  private TickRun.Result run(URI address, Function<URI, Transport> transport) {
    PrintStream nowhere =
        new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
    try (Progress progress = new Progress(nowhere, false);
        Progress.Step step = progress.begin("ticks", 1);
        SampleServer server = transport.apply(address).serve(RSocketServer.create(ticks))) {
      return TickRun.run(
          transport.apply(server.address()),
          ticks,
          FAST,
          SLOW,
          new Job("RDMA", checks, step, LIMIT));
    }
  }
}
