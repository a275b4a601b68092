// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests the two processes of a route, without the guest: {@code roce://} on two loopback addresses.
 */
class WireSessionTest {
  private static final String NEAR = Loopbacks.address(0);
  private static final String FAR = Loopbacks.address(1);

  private EndProcess near;
  private EndProcess far;

  @BeforeEach
  void start() throws Exception {
    near = new EndProcess(List.of(), WireMain.class);
    far = new EndProcess(List.of(), WireMain.class);
  }

  @AfterEach
  void end() {
    near.close();
    far.close();
  }

  private WireSession session(int port) throws Exception {
    return new WireSession(
        near,
        new ConnectionAddress(ConnectionAddress.ROCE, NEAR, FAR, port),
        far,
        new ConnectionAddress(ConnectionAddress.ROCE, "", FAR, port));
  }

  @Test
  void doesBothJobsWarmsUpAndTellsWhatWasCounted() throws Exception {
    try (WireSession session = session(18_515)) {
      for (Job job : WireCost.JOBS) {
        session.warmUp(job, Duration.ZERO);
      }
      assertThat(session.roundTrips(20)).isPositive();
      assertThat(session.writes(5)).isPositive();
      assertThat(session.counts()).contains("near", "far", "retransmissions=");
    }
  }

  @Test
  void theSameProcessesServeOneSessionAfterTheOther() throws Exception {
    for (int port = 18_516; port < 18_518; port++) {
      try (WireSession session = session(port)) {
        assertThat(session.writes(2)).isPositive();
      }
    }
  }
}
