// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.verbena.it.guest.GuestDevices;
import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Nodes;
import java.time.Duration;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests {@code verbena perf -R} with the emulated HCA on TCP sockets at one end, and the kernel's
 * Soft-iWARP at the other.
 */
@Tag("siw")
@InSoftRoceGuest(nodes = 2, devices = GuestDevices.SIW)
class SiwPerfTest {
  private static final int COUNT = 200;
  private static final Duration LIMIT = Duration.ofMinutes(2);

  /** The HCA that each end runs on. */
  abstract static class Between {
    private final String server;
    private final String client;
    private final int port;

    Between(String server, String client, int port) {
      this.server = server;
      this.client = client;
      this.port = port;
    }

    /** Sends no more messages than posted receives, as no message waits for a receive on iWARP. */
    @ParameterizedTest
    @CsvSource({
      "0, send bw, 65536", "1, send lat, 64", "2, write bw, 65536", "3, write lat, 64",
      "4, read bw, 65536", "5, read lat, 64", "6, write bw -q 3, 1000001",
          "7, read bw -q 3, 300007",
    })
    void measuresEachVerb(int number, String test, int size) throws Exception {
      assumeFalse(
          test.equals("write lat") && server.equals("iwarp"),
          "its server begins, which a passive end of iWARP may not (RFC 5044, section 7.1.2)");
      int meeting = port + 2 * number;
      Tool serving = start(test, size, meeting, server, Nodes.node2(), "");
      serving.awaitOutput("Waiting for client", LIMIT);
      Tool asking = start(test, size, meeting, client, Nodes.node1(), Nodes.node2());

      assertThat(asking.succeed(LIMIT)).containsPattern("(?m)^ *" + size + " +[26]00 ");
      serving.succeed(LIMIT);
    }

    private static Tool start(
        String test, int size, int port, String scheme, String here, String to) {
      return new NodeHca(scheme)
          .start(
              "perf %s -R -d %s://%s -p %d -n %d -s %d %s"
                  .formatted(test, scheme, here, port, COUNT, size, to));
    }
  }

  @Nested
  class FromSiw extends Between {
    FromSiw() {
      super("iwarp", "disni", 18_800);
    }
  }

  @Nested
  class ToSiw extends Between {
    ToSiw() {
      super("disni", "iwarp", 18_830);
    }
  }

  @Nested
  class BetweenSiw extends Between {
    BetweenSiw() {
      super("disni", "disni", 18_860);
    }
  }
}
