// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DoctorTest {

  @Test
  void saysWhatItSkipsOfAnEmulatedHca() {
    Run run = Run.of("doctor emulated://patient");

    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .startsWith("hca_id:\temulated0\n")
        .contains("\tlink:\t\t\t\tok      PORT_ACTIVE (4)\n")
        .contains("skipped an emulated HCA has its address, and RoCE v2\n")
        .contains("skipped no network is between its queue pairs\n")
        .contains("skipped an emulated HCA locks no memory\n")
        .contains("skipped a device in software, on no bus\n")
        .contains("\tloopback:\t\t\tok      SEND, WRITE and READ of 64 bytes")
        .endsWith("\tdiagnosis:\t\t\tnothing is wrong\n\n");
    assertThat(run.exitCode()).isZero();
  }

  @Test
  void comparesTheMtuOfAnHcaOnUdpWithItsInterface() {
    Run run = Run.of("doctor roce://HERE");

    assertThat(run.out())
        .contains("\tmtu:\t\t\t\tok      active_mtu 4096 (5), lo 65536\n")
        .contains("ok      SEND, WRITE and READ of 64 bytes by roce://" + Run.HERE);
    assertThat(run.exitCode()).describedAs(run.out()).isZero();
  }

  @Test
  void failsWithADeviceThatCannotMoveBytes() {
    Run run = Run.of("doctor emulated://broken?max-work-requests=2");

    assertThat(run.out()).contains("\tloopback:\t\t\tWRONG   ").endsWith("wrong: loopback\n\n");
    assertThat(run.exitCode()).isEqualTo(1);
  }

  @Test
  void saysThatThereIsNoSuchProvider() {
    Run run = Run.of("doctor nosuch://here");

    assertThat(run.out()).contains("WRONG   no verbs provider for scheme 'nosuch'");
    assertThat(run.exitCode()).isEqualTo(1);
  }

  /** All addresses of 127.0.0.0/8 are this machine's, but each is a separate HCA. */
  @Test
  void connectsTheDeviceOfAPeersAddressToItself() {
    Run run = Run.of("doctor roce://127.99.0.1?source=" + Run.HERE);

    assertThat(run.out())
        .contains("ok      SEND, WRITE and READ of 64 bytes by roce://" + Run.HERE + ":0");
    assertThat(run.exitCode()).describedAs(run.out()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"roce://HERE:7468", "iwarp://HERE:7468", "shm://HERE.doctor"})
  void leavesTheAddressOfARunningServerAlone(String address) {
    URI served = URI.create(address.replace("HERE", Run.HERE));
    try (Device device = VerbsProviders.find(served).open(served);
        ConnectionManager manager = device.createConnectionManager();
        ConnectionListener server = manager.listen(served, 1)) {
      Run run = Run.of("doctor " + server.address());

      assertThat(run.out()).contains("ok      SEND, WRITE and READ of 64 bytes by ");
      assertThat(run.exitCode()).describedAs(run.out()).isZero();
    }
  }

  @Test
  void connectsIwarpToItselfByAnAddressOfTheKernelsChoice() {
    assertThat(Run.of("doctor iwarp://127.99.0.2").out())
        .contains("ok      SEND, WRITE and READ of 64 bytes by iwarp://127.0.0.1:0");
  }
}
