// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.Program;
import java.io.IOException;

/** Controls the random loss of packets in the guest's switch. */
public final class PacketLoss {
  /** A transfer has hundreds of packets: so many transfers without a loss at 1 % do not happen. */
  private static final int MOST_TRANSFERS = 20;

  private PacketLoss() {}

  /** A transfer that must succeed in spite of losses. */
  @FunctionalInterface
  public interface Transfer {
    /** Runs the transfer once. */
    void run() throws Exception;
  }

  /**
   * Runs a transfer while packets are lost, and repeats it if the switch lost none. Stops the
   * losses before it returns or throws.
   *
   * @param percent the percentage of lost packets
   */
  public static void strikes(int percent, Transfer transfer) throws Exception {
    long before = drops();
    Program.run("link-loss", Integer.toString(percent));
    try {
      int done = 0;
      do {
        assertThat(done++).as("transfers of which no packet was lost").isLessThan(MOST_TRANSFERS);
        transfer.run();
      } while (drops() == before);
    } finally {
      Program.run("link-loss", "0");
    }
  }

  private static long drops() throws IOException, InterruptedException {
    return Long.parseLong(Program.run("link-drops").strip());
  }
}
