// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.doctor;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Checks whether the network loses packets, and the measures against it. Without root sysfs shows
 * little: PFC is configured by netlink, and only its effects are visible.
 */
final class LossCheck {
  private static final String NAME = "pfc/ecn";
  private static final String HARDWARE = "hw_counters/";

  /** Of mlx5, bnxt_re and rxe: a packet was lost on the way. */
  private static final List<String> LOSSES =
      List.of(
          "out_of_sequence",
          "packet_seq_err",
          "local_ack_timeout_err",
          "seq_err_naks_rcvd",
          "to_retransmits",
          "out_of_seq_request",
          "rcvd_seq_err");

  /** Of mlx5, bnxt_re and irdma: a switch marked packets, or an end slowed down. */
  private static final List<String> MARKS =
      List.of(
          "np_ecn_marked_roce_packets",
          "np_cnp_sent",
          "rp_cnp_handled",
          "rx_ecn_marked_pkts",
          "tx_cnp_pkts",
          "rx_cnp_pkts",
          "cnpSent",
          "cnpHandled");

  private LossCheck() {}

  static Finding of(ExaminedDevice patient) {
    if (!patient.isKernels()) {
      return Finding.skipped(NAME, "`verbena stat " + patient.uri() + "` counts what is lost");
    }
    if (patient.isIwarp()) {
      return Finding.skipped(NAME, "TCP recovers from loss");
    }
    if (patient.isInfiniBand()) {
      return Finding.skipped(NAME, "InfiniBand sends what the other end has room for");
    }
    if (LOSSES.stream().allMatch(name -> patient.countOfPort(HARDWARE + name) < 0)) {
      return Finding.skipped(NAME, "the driver shows no count of lost packets");
    }
    Map<String, Long> lost = counted(patient, LOSSES);
    Map<String, Long> marked = counted(patient, MARKS);
    String netdev = patient.netdevName();
    if (!lost.isEmpty()) {
      return Finding.note(
          NAME,
          "since the driver was loaded packets were lost: " + lost + marks(marked),
          "look at PFC: dcb pfc show dev " + netdev + ", or mlnx_qos -i " + netdev,
          "set PFC up for one priority on every port of the path, or ECN on the switches;"
              + " `verbena stat "
              + patient.uri()
              + " -i 1 -n 10` shows whether it goes on");
    }
    return Finding.ok(NAME, "no packet was lost" + marks(marked) + ecn(patient, netdev));
  }

  private static String marks(Map<String, Long> marked) {
    return marked.isEmpty() ? "" : "; ECN is at work: " + marked;
  }

  /** From the vendor's driver for mlx5: a file for each priority. */
  private static String ecn(ExaminedDevice patient, String netdev) {
    String folder = "sys/class/net/" + netdev + "/ecn/roce_np/enable";
    List<String> on =
        patient.files().names(folder).stream()
            .filter(priority -> patient.files().number(folder + "/" + priority) == 1)
            .toList();
    return on.isEmpty() ? "" : "; ECN is on for priorities " + on;
  }

  private static Map<String, Long> counted(ExaminedDevice patient, List<String> names) {
    Map<String, Long> counted = new TreeMap<>();
    for (String name : names) {
      long count = patient.countOfPort(HARDWARE + name);
      if (count > 0) {
        counted.put(name, count);
      }
    }
    return counted;
  }
}
