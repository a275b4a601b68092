// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.doctor;

import java.net.InetAddress;

/** Checks that there is a GID to connect from, and shows this GID and its type. */
final class GidCheck {
  private static final String NAME = "gid";

  private GidCheck() {}

  static Finding of(ExaminedDevice patient, GidChoice choice) {
    if (patient.isIwarp()) {
      return Finding.skipped(NAME, "iWARP connects by addresses alone");
    }
    if (patient.isInfiniBand()) {
      return Finding.ok(NAME, "GID[0], of the port; the subnet manager knows the way to another");
    }
    InetAddress address = choice.address();
    if (address == null) {
      return Finding.wrong(
          NAME,
          "none: " + choice.why(),
          missing(patient),
          "of another host's address, `ip route get ADDRESS` says which interface leads there");
    }
    String own = address.getHostAddress();
    if (choice.index() < 0) {
      return Finding.wrong(NAME, "none: " + own + " is in no GID of the device", missing(patient));
    }
    if (address.isLinkLocalAddress()) {
      return Finding.wrong(
          NAME,
          text(patient, choice) + ": " + own + " is link-local, and means nothing elsewhere",
          missing(patient));
    }
    String type = patient.gidType(choice.index());
    String value = text(patient, choice) + " (" + choice.why() + ")";
    if (type == null) {
      return Finding.note(
          NAME,
          value + ", or another of the address: its type is not to be seen",
          "run it where /sys shows the device");
    }
    String mode = GidChoice.mode(patient);
    if (choice.isAsked() && !type.equals(mode)) {
      return Finding.note(
          NAME,
          value + ": others connect by " + mode,
          "ask for a GID of that type at the other end too");
    }
    if (!type.equals(mode)) {
      return Finding.wrong(
          NAME,
          value + ": connections take " + mode + ", which " + own + " has not",
          "take the type that the address has: " + setMode(patient, type));
    }
    return type.equals(GidChoice.V2)
        ? Finding.ok(NAME, value)
        : Finding.note(
            NAME,
            value + ": RoCE v1 does not cross routers, and both ends need it",
            setMode(patient, GidChoice.V2));
  }

  private static String text(ExaminedDevice patient, GidChoice choice) {
    String type = patient.gidType(choice.index());
    String netdev = patient.netdev(choice.index());
    InetAddress address = choice.address();
    return "GID["
        + choice.index()
        + "] "
        + (address == null ? "" : address.getHostAddress())
        + (type == null ? "" : ", " + type)
        + (netdev == null ? "" : ", " + netdev);
  }

  private static String missing(ExaminedDevice patient) {
    return "give the interface an address: ip addr add ADDRESS/LENGTH dev "
        + patient.netdevName()
        + "; `verbena device "
        + patient.uri()
        + "` lists the GIDs";
  }

  private static String setMode(ExaminedDevice patient, String type) {
    String folder = "/sys/kernel/config/rdma_cm/" + patient.name();
    return "as root, mkdir -p "
        + folder
        + "; echo '"
        + type
        + "' > "
        + folder
        + "/"
        + patient.ofPort()
        + "default_roce_mode";
  }
}
