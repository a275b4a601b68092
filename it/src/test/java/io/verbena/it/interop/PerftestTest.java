// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Nodes;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the kernel's devices through DiSNI against perftest. */
@Tag("once")
@InSoftRoceGuest(nodes = 2)
class PerftestTest extends PerftestTests {
  private static final Duration LIMIT = Duration.ofMinutes(1);

  @Override
  Hca hca() {
    return new NodeHca("disni");
  }

  @Test
  void connectsByTheConnectionManager() throws Exception {
    Hca hca = hca();
    String line = "perf send bw -R -b -q 2 -e -p 18740 -n 100 -s 4096 -d disni://%s %s";
    Tool server = hca.start(line.formatted(hca.server(), ""));
    server.awaitOutput("Waiting for client", LIMIT);
    Tool client = hca.start(line.formatted(hca.client(), Nodes.node2()));
    assertThat(client.succeed(LIMIT)).containsPattern("\n 4096 +200 ");
    assertThat(server.succeed(LIMIT)).containsPattern("\n 4096 +200 ");
  }
}
