// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.Program;
import java.io.IOException;

/** A switch of the guest that loses packets, at random. */
public final class PacketLoss {
  /** A transfer has hundreds of packets: that 1 % of them is nothing so often does not happen. */
  private static final int MOST_TRANSFERS = 20;

  private PacketLoss() {}

  /** A transfer that is to succeed in spite of losses. */
  @FunctionalInterface
  public interface Transfer {
    /** Does it once. */
    void run() throws Exception;
  }

  /**
   * Does a transfer while packets are lost, and does it again if it was lucky and none of its own
   * was. No packets are lost any more when this returns or throws.
   *
   * @param percent how many of a hundred packets are lost
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
