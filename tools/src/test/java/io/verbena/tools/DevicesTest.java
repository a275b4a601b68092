// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DevicesTest {

  @Test
  void listsTheDevicesOfEveryProvider() {
    Run run = Run.of("devices");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .containsPattern("^    device +\tprovider\n    ------ +\t-+\n")
        .containsPattern("(?m)^    emulated0 +\temulated://$");
  }

  @Test
  void tellsOfDevicesByUriAndFailsIfOneIsMissing() {
    Run run = Run.of("devices emulated://one nosuch://two");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out()).containsPattern("(?m)^    emulated0 +\tACTIVE +\temulated://one$");
    assertThat(run.err()).contains("nosuch://two: no verbs provider for scheme 'nosuch'");
  }

  @Test
  void describesADeviceAsIbvDevinfoDoes() {
    Run run = Run.of("device emulated://here?max-queue-pairs=4");

    assertThat(run.exitCode()).describedAs(run.err()).isZero();
    assertThat(run.out())
        .startsWith("hca_id:\temulated0\n")
        .contains("\n\tphys_port_cnt:\t\t\t1\n")
        .contains("\n\tmax_qp:\t\t\t\t4\n")
        .contains("\n\tmax_qp_init_rd_atom:\t\t128\n")
        .contains("\n\t\tport:\t1\n")
        .contains("\n\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n")
        .contains("\n\t\t\tactive_mtu:\t\t4096 (5)\n")
        .containsPattern("\n\t\t\tGID\\[  0]:\t\tfe80(:[0-9a-f]{4}){7}\n\n$");
  }

  @Test
  void leavesOutWhatNobodyTells() {
    assertThat(Run.of("device emulated://here").out())
        .doesNotContain("node_guid", "vendor_id", "sm_lid", "page_size_cap");
  }

  @Test
  void saysWhatToDoWhenThereIsNoSuchDevice() {
    Run run = Run.of("device nosuch://here");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .startsWith("verbena: no verbs provider for scheme 'nosuch'")
        .contains("-> `verbena devices` lists what is here");
  }

  @Test
  void printsALineOfWhatADeviceCountsForEachTimeItIsAsked() {
    Run run = Run.of("stat emulated://counts?wire=simulated -n 2");

    assertThat(run.exitCode()).describedAs(run.err()).isZero();
    assertThat(run.out())
        .matches("( +[a-z_]+)+\n( +\\d+)+\n( +\\d+)+\n")
        .contains("rnr_sent", "retransmissions", "duplicates");
  }
}
