// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.badinput;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.Program;
import io.verbena.it.guest.InSoftRoceGuest;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the removal of a device from a program that uses it. */
@Tag("once")
@InSoftRoceGuest(nodes = 2)
class DeviceRemovalTest {
  private static final String ADDRESS = "10.78.0.1";
  private static final Duration LIMIT = Duration.ofMinutes(1);

  @BeforeEach
  void addADevice() throws Exception {
    Program.run("ip", "link", "add", "extra0", "type", "veth", "peer", "name", "extra1");
    Program.run("ip", "address", "add", ADDRESS + "/24", "dev", "extra0");
    Program.run("ip", "link", "set", "extra1", "up");
    Program.run("ip", "link", "set", "extra0", "up");
    Program.run("rdma", "link", "add", "rxe9", "type", "rxe", "netdev", "extra0");
  }

  @AfterEach
  void removeItsNetwork() throws Exception {
    Program.run("ip", "link", "delete", "extra0");
  }

  /**
   * rxe cannot remove a device from a process: the removal waits until the process has closed it.
   */
  @Test
  void allThatIsPendingEndsAndAllCanBeClosed() throws Exception {
    try (var program = Program.start(Program.java(Removal.class, ADDRESS))) {
      program.awaitOutput("ready");
      try (var removal = Program.start("rdma", "link", "delete", "rxe9")) {
        assertThat(program.succeed(LIMIT)).contains("ended: {WR_FLUSH_ERR=4}").contains("closed");
        removal.succeed(LIMIT);
      }
    }
  }
}
