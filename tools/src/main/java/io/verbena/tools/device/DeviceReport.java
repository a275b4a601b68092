// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.device;

import io.verbena.tools.end.DevinfoLine;
import io.verbena.tools.end.KernelFiles;
import io.verbena.tools.end.PortState;
import io.verbena.tools.end.QueuePairAddress;
import io.verbena.verbs.Capability;
import io.verbena.verbs.Device;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PortAttributes;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

/**
 * A device with the labels and in the layout of {@code ibv_devinfo -v}. Attributes that the verbs
 * SPI lacks are left out; its additional attributes get labels in the same style.
 */
final class DeviceReport {
  private final PrintWriter out;
  private final KernelFiles files;

  DeviceReport(PrintWriter out, KernelFiles files) {
    this.out = out;
    this.files = files;
  }

  /**
   * @param ports the ports of its HCA to print
   */
  void print(Device device, List<PortAttributes> ports) {
    DeviceAttributes has = device.attributes();
    out.println("hca_id:\t" + has.name());
    device("fw_ver", has.firmware());
    device("phys_port_cnt", device.portCount());
    device("max_mr_size", "0x" + Long.toHexString(has.maxMemoryRegionSize()));
    device("max_qp", has.maxQueuePairs());
    device("max_qp_wr", has.maxWorkRequests());
    device("max_sge", has.maxScatterGather());
    device("max_inline_data", has.maxInlineData());
    device("max_cq", has.maxCompletionQueues());
    device("max_cqe", has.maxCompletions());
    device("max_mr", has.maxMemoryRegions());
    device("max_pd", has.maxProtectionDomains());
    device("max_qp_rd_atom", has.maxReadAtomicAsResponder());
    device("max_qp_init_rd_atom", has.maxReadAtomicAsInitiator());
    if (!has.supports(Capability.ATOMICS)) {
      device("atomic_cap", "ATOMIC_NONE (0)");
    }
    device("max_mw", has.maxMemoryWindows());
    device("max_ah", has.maxAddressHandles());
    device("max_srq", has.maxSharedReceiveQueues());
    if (has.maxSharedReceiveQueues() > 0) {
      device("max_srq_wr", has.maxSharedReceiveRequests());
    }
    out.println("\tcapabilities:");
    new TreeSet<>(has.capabilities()).forEach(each -> out.println(DevinfoLine.more(each)));
    ports.forEach(port -> print(port, has));
    out.println();
  }

  private void print(PortAttributes port, DeviceAttributes has) {
    out.println("\t\tport:\t" + port.number());
    String state = files.read(PortState.file(has.name(), port.number()));
    port("state", PortState.text(port.active(), state));
    port("max_mtu", text(port.maxMtu()));
    port("active_mtu", text(port.activeMtu()));
    port("port_lid", port.lid());
    port("max_msg_sz", "0x" + Integer.toHexString(has.maxMessageSize()));
    List<Gid> gids = port.gids();
    port("gid_tbl_len", gids.size());
    for (int i = 0; i < gids.size(); i++) {
      Gid gid = gids.get(i);
      if (gid.high() != 0 || gid.low() != 0) {
        port(String.format(Locale.ROOT, "GID[%3d]", i), QueuePairAddress.text(gid));
      }
    }
  }

  private static String text(Mtu mtu) {
    return mtu.bytes() + " (" + mtu.code() + ")";
  }

  private void device(String label, Object value) {
    out.println(DevinfoLine.ofDevice(label, value));
  }

  private void port(String label, Object value) {
    out.println(DevinfoLine.ofPort(label, value));
  }
}
