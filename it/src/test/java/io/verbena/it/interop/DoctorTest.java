// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Nodes;
import io.verbena.tools.Verbena;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests {@code verbena doctor} on a kernel device. */
@Tag("once")
@InSoftRoceGuest(nodes = 1)
class DoctorTest {
  @Test
  void findsNothingWrongWithSoftRoce() throws Exception {
    StringWriter output = new StringWriter();
    PrintWriter out = new PrintWriter(output, true);

    int status = Verbena.run(out, out, "doctor", "disni://" + Nodes.node1());

    String told = output.toString();
    Files.writeString(
        Path.of(System.getenv().getOrDefault("VERBENA_RESULTS", "target"), "doctor-rxe.txt"), told);
    assertThat(told)
        .contains("hca_id:\trxe0\n")
        .containsPattern("\tlink:\t+ok      PORT_ACTIVE")
        .containsPattern("\tgid:\t+ok      GID\\[\\d+] " + Nodes.node1() + ", RoCE v2, ")
        .containsPattern("\tmemlock:\t+ok      unlimited")
        .containsPattern("\tloopback:\t+ok      SEND, WRITE and READ of 64 bytes by disni://")
        .endsWith("\tdiagnosis:\t\t\tnothing is wrong\n\n");
    assertThat(status).isZero();
  }
}
