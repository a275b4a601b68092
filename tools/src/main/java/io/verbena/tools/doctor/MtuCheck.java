// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.doctor;

import io.verbena.verbs.Mtu;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Compares the port's MTU with the MTU of its network interface. */
final class MtuCheck {
  private static final String NAME = "mtu";

  /** Headers that the kernel leaves room for (iboe_get_mtu, ib_addr.h). */
  private static final int HEADERS = 40 + 8 + 12 + 4 + 28 + 4;

  /** The start of the names of HCAs on UDP; the interface follows. */
  private static final String ROCE = "roce_";

  /** The bytes of the headers of their packets. */
  private static final int HEADERS_OF_ROCE = 80;

  private MtuCheck() {}

  static Finding of(ExaminedDevice patient, int gid) {
    String name = patient.name();
    if (patient.uri().getScheme().equals("roce") && name.startsWith(ROCE)) {
      return compared(patient, name.substring(ROCE.length()), HEADERS_OF_ROCE);
    }
    if (!patient.isKernels()) {
      return Finding.skipped(NAME, "no network is between its queue pairs");
    }
    if (patient.isIwarp() || patient.isInfiniBand()) {
      return Finding.skipped(
          NAME,
          active(patient).bytes()
              + (patient.isIwarp() ? ": TCP sees to packets" : ": of the subnet, no Ethernet"));
    }
    String netdev = gid < 0 ? null : patient.netdev(gid);
    if (netdev == null) {
      netdev = patient.netdev();
    }
    return compared(patient, netdev, HEADERS);
  }

  private static Finding compared(ExaminedDevice patient, @Nullable String netdev, int headers) {
    long mtu = netdev == null ? -1 : patient.files().number("sys/class/net/" + netdev + "/mtu");
    Mtu active = active(patient);
    String value = "active_mtu " + active.bytes() + " (" + active.code() + ")";
    if (mtu < 0) {
      return Finding.skipped(NAME, value + ": the MTU of the interface is not to be seen");
    }
    value += ", " + netdev + " " + mtu;
    if (active.bytes() + headers > mtu) {
      return Finding.wrong(
          NAME,
          value + ": full packets do not fit",
          "ip link set " + netdev + " mtu " + (active.bytes() + 104) + ", or more",
          "the same on the peer and on every switch; see it by ping -M do -s "
              + (active.bytes() + 76)
              + " PEER");
    }
    Mtu fits = largest(mtu - headers);
    if (fits.bytes() > active.bytes() && patient.port().maxMtu().bytes() > active.bytes()) {
      return Finding.note(
          NAME,
          value + ": " + fits.bytes() + " would fit",
          "take the interface down and up, so that the port takes it; look for a limit of the peer");
    }
    return active == Mtu.MTU_4096
        ? Finding.ok(NAME, value)
        : Finding.note(
            NAME,
            value,
            "4096 needs an MTU of 4200 or more on every interface and switch of the path");
  }

  private static Mtu active(ExaminedDevice patient) {
    return patient.port().activeMtu();
  }

  private static Mtu largest(long bytes) {
    return Arrays.stream(Mtu.values())
        .filter(mtu -> mtu.bytes() <= bytes)
        .reduce(Mtu.MTU_256, (smaller, larger) -> larger);
  }
}
