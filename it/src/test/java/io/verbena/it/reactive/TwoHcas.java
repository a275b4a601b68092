// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.reactive;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.Program;
import io.verbena.it.node.Namespace;
import io.verbena.it.node.Outside;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProviders;
import java.io.IOException;
import java.net.URI;
import org.jspecify.annotations.Nullable;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * In a guest whose tests have one end on {@code roce://}, opens that HCA for all of them, and makes
 * the switch lose {@code verbena.test.loss} per cent of the packets.
 *
 * <p>rxe occupies the UDP port of RoCE in the JVM's own network namespace: the HCA's sockets are
 * opened in the namespace of the outside host, and all users of the HCA's address share them.
 */
public final class TwoHcas implements LauncherSessionListener {
  private static final String RECEIVED = "/sys/class/net/outside/statistics/rx_packets";
  private static final int WITHOUT_A_TEST = 20;
  private static final String LOSS = System.getProperty("verbena.test.loss", "0");

  private @Nullable Device outside;

  private static boolean areAsked() {
    return System.getProperty("verbena.test.from") != null && Outside.isThere();
  }

  @Override
  public void launcherSessionOpened(LauncherSession session) {
    if (areAsked()) {
      try {
        outside = Namespace.call("outside", TwoHcas::open);
        // Later users of the HCA look up its address in a namespace without that address.
        Program.run("ip", "address", "add", Outside.address() + "/32", "dev", "lo");
        Program.run("link-loss", LOSS);
      } catch (IOException e) {
        throw new IllegalStateException("programs of the guest", e);
      } catch (InterruptedException e) {
        throw new IllegalStateException("nobody interrupts this thread", e);
      }
    }
  }

  private static Device open() {
    String capture = System.getProperty("verbena.test.pcap");
    URI address =
        URI.create("roce://" + Outside.address() + (capture == null ? "" : "?pcap=" + capture));
    return VerbsProviders.find(address).open(address);
  }

  @Override
  public void launcherSessionClosed(LauncherSession session) {
    if (outside != null) {
      outside.close();
      try {
        assertThat(count("outside", "cat", RECEIVED))
            .as("packets to roce://")
            .isGreaterThan(WITHOUT_A_TEST);
        assertThat(count("link-drops") > 0)
            .as("packets were lost, of which %s %% had to be", LOSS)
            .isEqualTo(!LOSS.equals("0"));
      } catch (IOException e) {
        throw new IllegalStateException("programs of the guest", e);
      } catch (InterruptedException e) {
        throw new IllegalStateException("nobody interrupts this thread", e);
      }
    }
  }

  private static long count(String... program) throws IOException, InterruptedException {
    return Long.parseLong(Program.run(program).strip());
  }
}
