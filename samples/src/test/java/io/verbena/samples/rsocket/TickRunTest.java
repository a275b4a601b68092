package io.verbena.samples.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import io.rsocket.core.RSocketServer;
import io.verbena.samples.report.Checks;
import io.verbena.samples.report.Progress;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class TickRunTest {
  private static final int FAST = 2_000;
  private static final int SLOW = 1_600;

  private final Ticks ticks = new Ticks();
  private final Checks checks = new Checks();

  @Test
  void overRdmaTheSenderGoesAtThePaceOfASlowSubscriber() {
    assertSlowed(run(server -> new OverRdma(server, URI.create("emulated://tick-run-test"))));
  }

  @Test
  void overTcpTheSenderGoesAtThePaceOfASlowSubscriber() {
    assertSlowed(run(OverTcp::new));
  }

  /**
   * A rest of a millisecond after every 16 ticks lets hardly more than 16 a millisecond through.
   */
  private void assertSlowed(TickRun.Result result) {
    assertThat(checks.failed()).isEmpty();
    assertThat(result.slow()).isPositive().isLessThan(17_000);
    assertThat(result.lead()).isBetween(1L, (long) TickRun.RATE);
  }

  private TickRun.Result run(Function<RSocketServer, Transport> open) {
    PrintStream nowhere =
        new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
    try (Progress progress = new Progress(nowhere, false);
        Progress.Step step = progress.begin("ticks", 1);
        Transport transport = open.apply(RSocketServer.create(ticks))) {
      return TickRun.run(transport, ticks, FAST, SLOW, checks, step);
    }
  }
}
