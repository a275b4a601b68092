// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.badinput;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.Program;
import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Nodes;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the errors on a machine that denies a program the use of a device. */
@Tag("once")
@InSoftRoceGuest(nodes = 2)
class MachineTest {
  private static final int BYTES = 1 << 20;
  private static final String WITHOUT_DEVICES = "mount -t tmpfs none /dev/infiniband";

  /** Replaces the devices by copies with mode 0, which only a privileged process can open. */
  private static final String WITHOUT_RIGHTS =
      "copy=$(mktemp -d) && cp -a /dev/infiniband/. $copy && mount -t tmpfs none /dev/infiniband"
          + " && cp -a $copy/. /dev/infiniband && chmod 0 /dev/infiniband/*";

  @Test
  void withoutADevice() throws Exception {
    assertThat(attempt(WITHOUT_DEVICES, ""))
        .startsWith("NO_DEVICE: ")
        .contains("no RDMA device is open to this process")
        .contains("rdma link add rxe0 type rxe");
  }

  @Test
  void withoutTheRights() throws Exception {
    assertThat(attempt(WITHOUT_RIGHTS, "--bounding-set=-dac_override,-dac_read_search"))
        .startsWith("NOT_PERMITTED: ")
        .contains("/dev/infiniband");
  }

  @Test
  void withALowLimitOfLockedMemory() throws Exception {
    assertThat(attempt("ulimit -l 64", "--bounding-set=-ipc_lock"))
        .startsWith("NO_MEMORY: ")
        .contains(BYTES + " bytes")
        .contains("is 65536 bytes")
        .contains("ulimit -l")
        .contains("LimitMEMLOCK=");
  }

  @Test
  void withAllThatItNeeds() throws Exception {
    assertThat(attempt("true", "")).isEqualTo("registered " + BYTES + "\n");
  }

  /**
   * Returns the output of the program after this preparation, in mounts of its own and with these
   * rights.
   */
  private static String attempt(String preparation, String rights) throws Exception {
    String line = preparation + " && exec setpriv " + rights + " -- \"$@\"";
    return Program.run(
        Stream.concat(
                Stream.of("unshare", "-m", "bash", "-c", line, "-"),
                Program.java(Attempt.class, Nodes.server(), Integer.toString(BYTES)).stream())
            .toList());
  }
}
