// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that {@code docs/generated/doctor.md} has the doctor's output for some RNICs; {@code
 * -Dverbena.doctor.record=true} writes the file.
 */
@Tag("once")
class DoctorRecordTest {
  private static final Path RECORD = Path.of("../docs/generated/doctor.md");
  private static final String INTRODUCTION =
      """
      # What the doctor says of RNICs

      Written by `DoctorRecordTest`, and compared in every build with what it says then
      ([the test](../../tools/src/test/java/io/verbena/tools/doctor/DoctorRecordTest.java)). The devices are those of the
      [fake rdma-core](../fake-rdma-core.md), on a machine whose `/sys` and `/proc` the test has written: no RNIC was there.
      """;

  @TempDir private Path folder;

  @Test
  void isWhatTheDoctorSays() throws Exception {
    String record =
        INTRODUCTION
            + section("A ConnectX with RoCE, in a slot that is too narrow", connectX(), "10.0.1.1")
            + section("A Broadcom, for a user who may lock little memory", bnxt(), "10.0.5.1")
            + section("A ConnectX on InfiniBand", inASlot("mlx5-ib"), "10.0.4.1")
            + section("An Intel E810 with iWARP, whose port is down", irdma(), "10.0.16.1")
            + section("Soft-RoCE", machine("rxe").deviceFile("parent", "eth1"), "10.0.9.1");

    if (Boolean.getBoolean("verbena.doctor.record")) {
      Files.writeString(RECORD, record);
    }

    assertThat(record).isEqualTo(Files.readString(RECORD));
  }

  private static String section(String title, FakeMachine machine, String host) throws Exception {
    String address = "disni://" + host;
    return "\n## "
        + title
        + "\n\n```\n$ bin/verbena doctor "
        + address
        + "\n"
        + machine.doctor(address).text().strip()
        + "\n```\n";
  }

  private FakeMachine machine(String profile) throws Exception {
    return new FakeMachine(Files.createDirectory(folder.resolve(profile)), profile);
  }

  private FakeMachine inASlot(String profile) throws Exception {
    return machine(profile)
        .deviceFile("device/current_link_speed", "16.0 GT/s PCIe")
        .deviceFile("device/max_link_speed", "16.0 GT/s PCIe")
        .deviceFile("device/current_link_width", "16")
        .deviceFile("device/max_link_width", "16");
  }

  private FakeMachine connectX() throws Exception {
    return inASlot("mlx5-roce")
        .deviceFile("device/current_link_width", "8")
        .deviceFile("device/numa_node", "1")
        .deviceFile("device/iommu_group/type", "DMA-FQ")
        .deviceFile("board_id", "MT_0000000012")
        .deviceFile("ports/1/hw_counters/np_cnp_sent", "7")
        .deviceFile("ports/1/hw_counters/out_of_sequence", "12");
  }

  private FakeMachine bnxt() throws Exception {
    return inASlot("bnxt-re")
        .file("proc/self/limits", "Max locked memory         8388608     8388608      bytes")
        .file("proc/self/status", "CapEff:\t0000000000000000");
  }

  private FakeMachine irdma() throws Exception {
    return inASlot("irdma-iwarp")
        .with("port 1 state active", "port 1 state down")
        .deviceFile("ports/1/phys_state", "3: Disabled");
  }
}
