// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.doctor;

import java.util.ArrayList;
import java.util.List;

/** Checks the slot and the IOMMU between the device and memory, and the firmware. */
final class BusCheck {
  private BusCheck() {}

  static List<Finding> of(ExaminedDevice patient) {
    boolean isHidden = patient.isKernels() && !patient.isSeen();
    if (isHidden || !patient.isKernels() || !patient.isOnABus()) {
      String why = isHidden ? "sysfs does not show the device" : "a device in software, on no bus";
      return List.of(
          Finding.skipped("pci", why),
          Finding.skipped("iommu", why),
          Finding.skipped("firmware", why));
    }
    return List.of(slot(patient), iommu(patient), firmware(patient));
  }

  private static Finding slot(ExaminedDevice patient) {
    String name = "pci";
    List<String> less = new ArrayList<>();
    String value = "";
    for (String what : List.of("link_speed", "link_width")) {
      String now = patient.ofDevice("device/current_" + what);
      String most = patient.ofDevice("device/max_" + what);
      if (now != null && most != null) {
        value += (value.isEmpty() ? "" : ", ") + what + " " + now;
        if (!now.equals(most)) {
          less.add(what + " " + most);
        }
      }
    }
    if (value.isEmpty()) {
      return Finding.skipped(name, "the kernel does not tell of the slot");
    }
    String node = patient.ofDevice("device/numa_node");
    value += node == null || node.equals("-1") ? "" : ", numa_node " + node;
    return less.isEmpty()
        ? Finding.ok(name, value)
        : Finding.note(
            name,
            value + ": the device has " + String.join(", ", less),
            "put it into a faster slot, and look for power saving of the bus (ASPM)");
  }

  private static Finding iommu(ExaminedDevice patient) {
    String name = "iommu";
    if (patient.target("device/iommu_group") == null) {
      return Finding.ok(name, "none translates");
    }
    String type = patient.ofDevice("device/iommu_group/type");
    if ("identity".equals(type)) {
      return Finding.ok(name, "identity (passthrough)");
    }
    return Finding.note(
        name,
        (type == null ? "on" : type) + ": it translates all that the device reads and writes",
        "if the device is yours alone, boot with iommu=pt: registering and DMA are faster");
  }

  private static Finding firmware(ExaminedDevice patient) {
    String board = patient.ofDevice("board_id");
    String driver = patient.target("device/driver");
    String value =
        patient.device().attributes().firmware()
            + (board == null ? "" : ", board " + board)
            + (driver == null ? "" : ", driver " + driver);
    return Finding.note(
        "firmware", value, "compare it with the vendor's list for this driver and kernel");
  }
}
