// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class BandwidthTest {

  @Test
  void tellsTheSumOfBothDirections() {
    Bandwidth here = new Bandwidth(1 << 20, 10, 3 << 20, 2 << 20, new LatencyHistogram(), false);

    assertThat(here.plus(new PerftestReport(1 << 20, 10, 4, 3, 0)).line())
        .matches(" 1048576 +10 +7\\.00 +5\\.00\\s+0\\.000005");
  }

  @Test
  void tellsNoTimesWhereNoneWereMeasured() {
    Bandwidth told = Bandwidth.of(new PerftestReport(64, 10, 4, 3, 0), false);
    StringWriter table = new StringWriter();
    new TableOutput(new PrintWriter(table), true).result(told);

    assertThat(told.figures()).containsKey("bw_average_mib_s").doesNotContainKey("p50_usec");
    assertThat(table.toString()).hasLineCount(1);
  }

  @Test
  void tellsTheTimesThatWereMeasured() {
    LatencyHistogram times = new LatencyHistogram();
    times.record(2000);

    assertThat(new Bandwidth(64, 1, 0, 1, times, false).figures()).containsKey("p50_usec");
  }
}
