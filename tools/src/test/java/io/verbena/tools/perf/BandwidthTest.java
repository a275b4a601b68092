// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BandwidthTest {

  @Test
  void tellsTheSumOfBothDirections() {
    Bandwidth here = new Bandwidth(1 << 20, 10, 3 << 20, 2 << 20, new LatencyHistogram(), false);

    assertThat(here.plus(new PerftestReport(1 << 20, 10, 4, 3, 0)).line())
        .matches(" 1048576 +10 +7\\.00 +5\\.00\\s+0\\.000005");
  }
}
