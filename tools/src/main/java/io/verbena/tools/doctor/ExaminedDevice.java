// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.doctor;

import io.verbena.tools.end.KernelFiles;
import io.verbena.verbs.Device;
import io.verbena.verbs.PortAttributes;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A device to examine, with the kernel's files about it.
 *
 * @param uri its address
 * @param port the attributes of its port, from when it was opened
 */
record ExaminedDevice(URI uri, Device device, PortAttributes port, KernelFiles files) {

  private static final String INTERFACE = "parent";

  /** The device's name, which is also the kernel's. */
  String name() {
    return device.attributes().name();
  }

  /** Returns whether it is a device of the kernel, not an emulated HCA. */
  boolean isKernels() {
    return List.of("disni", "verbs").contains(uri.getScheme());
  }

  private String folder() {
    return "sys/class/infiniband/" + name() + "/";
  }

  /** Returns whether sysfs shows it at all. */
  boolean isSeen() {
    return files.exists(folder());
  }

  /** A file of the device. */
  @Nullable String ofDevice(String file) {
    return files.read(folder() + file);
  }

  /** The folder of its port within a folder of the device. */
  String ofPort() {
    return "ports/" + port.number() + "/";
  }

  /** A file of its port. */
  @Nullable String ofPort(String file) {
    return files.read(folder() + ofPort() + file);
  }

  /** Returns a number of its port; -1 if the kernel does not show it. */
  long countOfPort(String file) {
    return files.number(folder() + ofPort() + file);
  }

  /** Returns the name of the target of a link of the device. */
  @Nullable String target(String link) {
    return files.target(folder() + link);
  }

  /** Soft-RoCE and Soft-iWARP name their interface; its bus is not the device's. */
  boolean isOnABus() {
    return files.exists(folder() + "device") && ofDevice(INTERFACE) == null;
  }

  boolean isIwarp() {
    String type = ofDevice("node_type");
    return type != null && type.contains("RNIC");
  }

  boolean isInfiniBand() {
    return "InfiniBand".equals(ofPort("link_layer"));
  }

  /** GIDs of iWARP hold a MAC, GIDs of InfiniBand a port; their IP addresses are elsewhere. */
  boolean hasAddressesAsGids() {
    return !isIwarp() && !isInfiniBand();
  }

  /** The kernel's text for GID {@code index}: {@code RoCE v2}, {@code IB/RoCE v1}; or null. */
  @Nullable String gidType(int index) {
    return ofPort("gid_attrs/types/" + index);
  }

  /** The network interface: of the first GID that names one, else of the device; or null. */
  @Nullable String netdev() {
    for (int i = 0; i < port.gids().size(); i++) {
      String name = netdev(i);
      if (name != null) {
        return name;
      }
    }
    List<String> names = files.names(folder() + "device/net");
    return names.isEmpty() ? ofDevice(INTERFACE) : names.get(0);
  }

  /** The interface of GID {@code index}, for a VLAN's address the VLAN's; or null. */
  @Nullable String netdev(int index) {
    String name = ofPort("gid_attrs/ndevs/" + index);
    return name == null || name.isEmpty() ? null : name;
  }

  /** The name of the interface, for messages. */
  String netdevName() {
    String name = netdev();
    return name == null ? "INTERFACE" : name;
  }
}
