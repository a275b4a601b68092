// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.tools.doctor.FakeMachine.Diagnosis;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the doctor on the RNICs of the fake rdma-core. */
class FakeDevicesTest {
  private static final String CONNECTX = "disni://10.0.1.1";

  @TempDir private Path folder;

  @Test
  void findsNothingWrongWithAConnectX() throws Exception {
    Diagnosis all =
        connectX()
            .deviceFile("device/current_link_speed", "16.0 GT/s PCIe")
            .deviceFile("device/max_link_speed", "16.0 GT/s PCIe")
            .deviceFile("device/current_link_width", "8")
            .deviceFile("device/max_link_width", "16")
            .deviceFile("device/iommu_group/type", "DMA-FQ")
            .deviceFile("board_id", "MT_0000000012")
            .deviceFile("ports/1/hw_counters/np_cnp_sent", "7")
            .deviceFile("ports/1/hw_counters/out_of_sequence", "0")
            .doctor(CONNECTX);

    assertThat(all.text())
        .startsWith("hca_id:\tmlx5_0\n\turi:\t\t\t\tdisni://10.0.1.1\n\tport:\t\t\t\t1\n")
        .contains("\tlink:\t\t\t\tok      PORT_ACTIVE (4), Ethernet, 100 Gb/sec (4X EDR)\n")
        .contains(
            "\tgid:\t\t\t\tok      GID[3] 10.0.1.1, RoCE v2, eth1"
                + " (rdma_cm connects to 10.0.1.1 from it)\n")
        .contains("\tmtu:\t\t\t\tnote    active_mtu 1024 (3), eth1 1500\n")
        .contains("\tmemlock:\t\t\tok      unlimited\n")
        .contains("note    link_speed 16.0 GT/s PCIe, link_width 8: the device has link_width 16")
        .contains("\tiommu:\t\t\t\tnote    DMA-FQ: ")
        .contains("\t\t\t\t\t        -> if the device is yours alone, boot with iommu=pt")
        .contains("16.35.2000, board MT_0000000012\n")
        .contains("ok      no packet was lost; ECN is at work: {np_cnp_sent=7}\n")
        .contains("ok      SEND, WRITE and READ of 64 bytes by disni://10.0.1.1:0\n")
        .endsWith("\tdiagnosis:\t\t\tnothing is wrong\n\n");
    assertThat(all.exitCode()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "1, 'link_width 16, numa_node 1'",
    "-1, link_width 16" // a machine with only one node
  })
  void tellsTheNumaNodeOfTheSlot(String node, String expected) throws Exception {
    FakeMachine machine =
        connectX()
            .deviceFile("device/current_link_width", "16")
            .deviceFile("device/max_link_width", "16")
            .deviceFile("device/numa_node", node);

    assertThat(machine.doctor(CONNECTX).text())
        .contains("\tpci:\t\t\t\tok      " + expected + "\n");
  }

  private FakeMachine connectX() throws Exception {
    return new FakeMachine(folder, "mlx5-roce");
  }

  @Test
  void examinesThePortThatHasTheAddress() throws Exception {
    FakeMachine dual =
        new FakeMachine(folder, "mlx5-dual")
            .with("port 1 state active", "port 1 state down")
            .file("sys/class/net/eth2/mtu", "9000")
            .file("sys/kernel/config/rdma_cm/mlx5_3/ports/2/default_roce_mode", "RoCE v2")
            .deviceFile("ports/2/hw_counters/out_of_sequence", "12");

    assertThat(dual.doctor("disni://10.0.13.1").text())
        .contains("\tport:\t\t\t\t2\n\tlink:\t\t\t\tok      PORT_ACTIVE (4), ")
        .contains("ok      GID[3] 10.0.13.1, RoCE v2, eth2 (")
        .contains("active_mtu 1024 (3), eth2 9000: ")
        .contains("packets were lost: {out_of_sequence=12}\n")
        .contains("ok      SEND, WRITE and READ of 64 bytes by disni://10.0.13.1:0\n");
  }

  @Test
  void describesEachPortOfADevice() throws Exception {
    String text =
        new FakeMachine(folder, "mlx5-dual").run(List.of("device", "disni://10.0.13.1")).text();

    assertThat(text)
        .contains("\n\tphys_port_cnt:\t\t\t2\n")
        .contains("\n\t\tport:\t2\n", "\n\t\tport:\t1\n")
        .contains("\t\t\tgid_tbl_len:\t\t4\n", "\t\t\tgid_tbl_len:\t\t72\n");
    assertThat(text.indexOf("port:\t2")).isLessThan(text.indexOf("port:\t1"));
  }

  /** On InfiniBand a queue pair of the fake connects only with the LID of its peer's port. */
  @ParameterizedTest
  @CsvSource({
    "mlx5-ib, pingpong --local -n 10 -c -d disni://10.0.4.1, 0007",
    "mlx5-ib, pingpong --local -n 10 -c -d disni://10.0.14.1, 0008",
    "mlx5-ib, pingpong --local -n 10 -g 0 -d disni://10.0.4.1, 0007",
    "mlx5-ib, pingpong --local -n 10 -i 2 -l 3 -d disni://10.0.14.1, 0008",
    "mlx5-ib, pingpong --local -n 10 --srq -q 2 -d disni://10.0.4.1, 0007",
    "mlx5-ib-ud, pingpong --local -n 10 --transport ud -d disni://10.0.24.1, 0007",
    "mlx5-ib, perf send lat --local -n 10 -d disni://10.0.4.1, 0007",
    "mlx5-ib, perf write bw --local -n 10 -x 0 -d disni://10.0.14.1, 0008",
    "mlx5-ib, perf read bw --local -n 10 -R -p 18780 -d disni://10.0.4.1, 0007",
  })
  void findsThePeerOnInfiniBandByItsLid(String profile, String line, String lid) throws Exception {
    Diagnosis run = new FakeMachine(folder, profile).run(List.of(line.split(" ", -1)));

    assertThat(run.text())
        .containsPattern("local address: +LID 0x" + lid)
        .containsPattern("remote address: +LID 0x" + lid);
    assertThat(run.exitCode()).isZero();
  }

  @Test
  void saysHowToRaiseALowLimitOfMemory() throws Exception {
    Diagnosis low =
        new FakeMachine(folder, "bnxt-re")
            .file("proc/self/limits", "Max locked memory         8388608     8388608      bytes")
            .file("proc/self/status", "CapEff:\t0000000000000000")
            .doctor("disni://10.0.5.1");

    assertThat(low.text())
        .contains("\tmemlock:\t\t\tWRONG   8388608 bytes, less than the 2147483648")
        .contains("-> raise it: ulimit -l unlimited")
        .contains("ok      SEND, WRITE and READ")
        .endsWith("\tdiagnosis:\t\t\twrong: memlock\n\n");
    assertThat(low.exitCode()).isEqualTo(1);
  }

  @Test
  void knowsThatALimitDoesNotCountForRoot() throws Exception {
    Diagnosis root =
        new FakeMachine(folder, "irdma-roce")
            .file("proc/self/limits", "Max locked memory         8388608     8388608      bytes")
            .file("proc/self/status", "CapEff:\t000001ffffffffff")
            .doctor("disni://10.0.6.1");

    assertThat(root.text())
        .contains("ok      8388608 bytes, which this user may exceed (CAP_IPC_LOCK)\n")
        .contains("ok      SEND, WRITE and READ");
    assertThat(root.exitCode()).isZero();
  }

  @Test
  void skipsTheBusOfSoftRoce() throws Exception {
    Diagnosis soft =
        new FakeMachine(folder, "rxe")
            .deviceFile("parent", "eth1")
            .deviceFile("device/current_link_speed", "8.0 GT/s PCIe")
            .deviceFile("device/max_link_speed", "16.0 GT/s PCIe")
            .doctor("disni://10.0.9.1");

    assertThat(soft.text())
        .contains("\tpci:\t\t\t\tskipped a device in software, on no bus\n")
        .contains("ok      SEND, WRITE and READ");
    assertThat(soft.exitCode()).isZero();
  }

  @Test
  void saysHowToBringADownPortUp() throws Exception {
    Diagnosis down =
        connectX()
            .with("port 1 state active", "port 1 state down")
            .deviceFile("ports/1/phys_state", "3: Disabled")
            .doctor(CONNECTX);

    assertThat(down.text())
        .contains("\tlink:\t\t\t\tWRONG   PORT_DOWN (1), 1: DOWN, 3: Disabled, Ethernet, ")
        .contains("\t\t\t\t\t        -> ip link set eth1 up\n")
        .contains("\tloopback:\t\t\tskipped the link is down\n");
    assertThat(down.exitCode()).isEqualTo(1);
  }

  @Test
  void tellsAPortThatWaitsForASubnetManagerFromOneThatIsDown() throws Exception {
    FakeMachine machine =
        new FakeMachine(folder, "mlx5-ib").with("port 1 state active", "port 1 state init");

    assertThat(machine.doctor("disni://10.0.4.1").text())
        .contains("WRONG   PORT_INIT (2), 2: INIT, ")
        .contains("start opensm");
    String root = folder.resolve("root").toString();
    assertThat(machine.run(List.of("device", "--root", root, "disni://10.0.4.1")).text())
        .contains("\t\t\tstate:\t\t\tPORT_INIT (2)\n", "\t\t\tport_lid:\t\t7\n")
        .contains("\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n", "\t\t\tport_lid:\t\t8\n");
  }

  @Test
  void claimsNoStateThatNobodyTells() throws Exception {
    FakeMachine machine =
        connectX().with("port 1 state active", "port 1 state down").withoutSysfs();

    assertThat(machine.doctor(CONNECTX).text()).contains("WRONG   not PORT_ACTIVE\n");
  }

  @Test
  void seesThatPacketsDoNotFitTheInterface() throws Exception {
    Diagnosis large = connectX().with("port 1 mtu 3", "port 1 mtu 5").doctor(CONNECTX);

    assertThat(large.text())
        .contains("WRONG   active_mtu 4096 (5), eth1 1500: full packets do not fit\n")
        .contains("-> ip link set eth1 mtu 4200, or more\n");
    assertThat(large.exitCode()).isEqualTo(1);
  }

  @Test
  void seesThatTheInterfaceHasRoomForMore() throws Exception {
    Diagnosis small = connectX().file("sys/class/net/eth1/mtu", "9000").doctor(CONNECTX);

    assertThat(small.text()).contains("note    active_mtu 1024 (3), eth1 9000: 4096 would fit\n");
    assertThat(small.exitCode()).isZero();
  }

  @Test
  void saysThatADeviceHasLinkLocalAddressesOnly() throws Exception {
    Diagnosis none =
        connectX()
            .without("gid 1 2")
            .without("gid 1 3")
            .without("gid 1 4")
            .without("gid 1 5")
            .doctor("disni://0.0.0.0?device=mlx5_0");

    assertThat(none.text())
        .contains("\tgid:\t\t\t\tWRONG   none: there is no GID of an address\n")
        .contains("-> give the interface an address: ip addr add ADDRESS/LENGTH dev eth1")
        .contains("skipped no address to connect to is known\n");
    assertThat(none.exitCode()).isEqualTo(1);
  }

  @Test
  void tellsTheGidOfTheTypeThatTheSystemTakes() throws Exception {
    Diagnosis first =
        connectX()
            .file("sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode", "IB/RoCE v1")
            .doctor(CONNECTX);

    assertThat(first.text())
        .contains("note    GID[2] 10.0.1.1, IB/RoCE v1, eth1")
        .contains("echo 'RoCE v2' > /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode");
  }

  @Test
  void saysThatAnAddressHasNotTheTypeThatTheSystemTakes() throws Exception {
    Diagnosis other = connectX().without("gid 1 3").doctor(CONNECTX);

    assertThat(other.text())
        .contains("WRONG   GID[2] 10.0.1.1, IB/RoCE v1, eth1")
        .contains("connections take RoCE v2, which 10.0.1.1 has not\n");
    assertThat(other.exitCode()).isEqualTo(1);
  }

  @Test
  void takesTheOnlyTypeThatAnOldDeviceHas() throws Exception {
    Diagnosis old =
        connectX().without("gid 1 1").without("gid 1 3").without("gid 1 5").doctor(CONNECTX);

    assertThat(old.text()).contains("note    GID[2] 10.0.1.1, IB/RoCE v1, eth1");
    assertThat(old.exitCode()).isZero();
  }

  @Test
  void saysThatTheOtherEndHasToAskForTheTypeToo() throws Exception {
    assertThat(connectX().doctor(CONNECTX + "?gid=4").text())
        .contains("note    GID[4] fd00:1:0:0:0:0:0:1, IB/RoCE v1, eth1 (gid=4 of the URI)")
        .contains("-> ask for a GID of that type at the other end too\n")
        .contains(
            "ok      SEND, WRITE and READ of 64 bytes by disni://[fd00:1:0:0:0:0:0:1]:0?gid=4");
  }

  @Test
  void connectsIwarpByItsAddressAlone() throws Exception {
    Diagnosis iwarp = new FakeMachine(folder, "siw").doctor("disni://10.0.7.1");

    assertThat(iwarp.text())
        .contains("\tgid:\t\t\t\tskipped iWARP connects by addresses alone\n")
        .contains("ok      SEND, WRITE and READ");
    assertThat(iwarp.exitCode()).isZero();
  }

  @Test
  void leavesGidsOfInfiniBandToTheSubnet() throws Exception {
    Diagnosis subnet = new FakeMachine(folder, "mlx5-ib").doctor("disni://10.0.4.1");

    assertThat(subnet.text())
        .contains("\tgid:\t\t\t\tok      GID[0], of the port; ")
        .contains("\tmtu:\t\t\t\tskipped 4096: of the subnet, no Ethernet\n")
        .contains("ok      SEND, WRITE and READ");
    assertThat(subnet.exitCode()).isZero();
  }

  @Test
  void claimsNothingOfWhatSysfsDoesNotShow() throws Exception {
    Diagnosis hidden = connectX().withoutSysfs().doctor(CONNECTX);

    assertThat(hidden.text())
        .contains("note    GID[2] 10.0.1.1 (rdma_cm connects to 10.0.1.1 from it), or another")
        .contains("\tmtu:\t\t\t\tskipped ")
        .contains("\tpci:\t\t\t\tskipped sysfs does not show the device\n")
        .contains("\tpfc/ecn:\t\t\tskipped the driver shows no count of lost packets\n")
        .contains("ok      SEND, WRITE and READ");
    assertThat(hidden.exitCode()).isZero();
  }

  @Test
  void tellsOfLostPackets() throws Exception {
    assertThat(
            connectX()
                .deviceFile("ports/1/hw_counters/out_of_sequence", "12")
                .doctor(CONNECTX)
                .text())
        .contains("note    since the driver was loaded packets were lost: {out_of_sequence=12}\n")
        .contains("-> look at PFC: dcb pfc show dev eth1, or mlnx_qos -i eth1\n");
  }

  @Test
  void tellsProgramsInJson() throws Exception {
    Diagnosis down =
        connectX().with("port 1 state active", "port 1 state down").doctor(CONNECTX, "--json");

    assertThat(down.text())
        .startsWith(
            "{\"uri\": \"disni://10.0.1.1\", \"device\": \"mlx5_0\", \"port\": 1, \"healthy\": false,"
                + " \"findings\": [\n  {\"check\": \"link\", \"verdict\": \"wrong\", ")
        .contains(
            "{\"check\": \"memlock\", \"verdict\": \"ok\", \"value\": \"unlimited\","
                + " \"advice\": []},\n")
        .endsWith("]}\n");
    assertThat(down.exitCode()).isEqualTo(1);
  }

  @Test
  void saysWhatToDoWhereNoDeviceHasTheAddress() throws Exception {
    Diagnosis none = connectX().doctor("disni://10.9.9.9");

    assertThat(none.text())
        .startsWith("hca_id:\tnone\n")
        .contains("\topen:\t\t\t\tWRONG   open disni://10.9.9.9: no device has or reaches")
        .contains("-> `verbena devices` lists what is here");
    assertThat(none.exitCode()).isEqualTo(1);
  }
}
