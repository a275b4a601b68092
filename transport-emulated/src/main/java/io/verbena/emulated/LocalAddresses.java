package io.verbena.emulated;

import io.verbena.verbs.Mtu;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The network interfaces of this machine as devices, and their IPv4 addresses. */
final class LocalAddresses {
  private static final String PREFIX = "roce_";

  /**
   * IP, UDP, transport headers and invariant CRC; more than there are, as Soft-RoCE has it, so that
   * both ends of a link come to the same MTU.
   */
  private static final int HEADERS = 80;

  private LocalAddresses() {}

  /** The names of devices: one for each interface that is up and has an IPv4 address. */
  static List<String> deviceNames() {
    List<String> names = new ArrayList<>();
    try {
      for (NetworkInterface each : NetworkInterface.networkInterfaces().toList()) {
        if (each.isUp() && first(each) != null) {
          names.add(PREFIX + each.getName());
        }
      }
    } catch (SocketException e) {
      throw new VerbsException(VerbsError.IO, "device names: " + e.getMessage(), e);
    }
    return names;
  }

  /** The name of the device with this address. */
  static String deviceName(Inet4Address local) {
    return PREFIX + interfaceOf(local).getName();
  }

  /** The largest MTU of RoCE that the interface with this address carries. */
  static Mtu mtu(Inet4Address local) {
    NetworkInterface link = interfaceOf(local);
    int room;
    try {
      room = link.getMTU() - HEADERS;
    } catch (SocketException e) {
      throw new VerbsException(VerbsError.IO, "MTU of " + link.getName(), e);
    }
    Mtu most = null;
    for (Mtu mtu : Mtu.values()) {
      if (mtu.bytes() <= room) {
        most = mtu;
      }
    }
    if (most == null) {
      throw new VerbsException(
          VerbsError.NO_DEVICE,
          "MTU of "
              + link.getName()
              + ": "
              + (room + HEADERS)
              + " (expected: >= "
              + (Mtu.MTU_256.bytes() + HEADERS)
              + ")");
    }
    return most;
  }

  /**
   * The address of this machine that an address asks for: the one named, or its interface's first,
   * or the host itself, or the one from which the host is reached.
   *
   * @throws VerbsException {@code NO_DEVICE} if there is none
   */
  static Inet4Address choose(RoceAddress address) {
    Inet4Address source = address.source();
    if (source != null) {
      if (!isLocal(source)) {
        throw noDevice("source: " + source.getHostAddress() + " is no address of this machine");
      }
      return source;
    }
    String device = address.option(RoceAddress.Option.DEVICE);
    if (device != null) {
      return byName(device);
    }
    Inet4Address host = address.host();
    return host.isAnyLocalAddress() ? any() : isLocal(host) ? host : towards(host);
  }

  /** All of 127.0.0.0/8 is this machine's, also where the interface does not say so. */
  static boolean isLocal(Inet4Address address) {
    return address.isLoopbackAddress() || find(address) != null;
  }

  private static Inet4Address byName(String device) {
    Inet4Address address = null;
    if (device.startsWith(PREFIX)) {
      try {
        NetworkInterface link = NetworkInterface.getByName(device.substring(PREFIX.length()));
        address = link == null ? null : first(link);
      } catch (SocketException e) {
        throw new VerbsException(VerbsError.IO, "device: " + device, e);
      }
    }
    if (address == null) {
      throw noDevice("device: " + device + " (expected: one of " + deviceNames() + ")");
    }
    return address;
  }

  /** Rather one that others reach too. */
  private static Inet4Address any() {
    try {
      for (NetworkInterface each : NetworkInterface.networkInterfaces().toList()) {
        Inet4Address address = each.isUp() && !each.isLoopback() ? first(each) : null;
        if (address != null) {
          return address;
        }
      }
    } catch (SocketException e) {
      throw new VerbsException(VerbsError.IO, "network interfaces", e);
    }
    return (Inet4Address) InetAddress.getLoopbackAddress();
  }

  /** Asks the kernel for its route; nothing is sent. */
  private static Inet4Address towards(Inet4Address host) {
    try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getByAddress(new byte[4]))) {
      socket.connect(new InetSocketAddress(host, 1));
      if (socket.getLocalAddress() instanceof Inet4Address address
          && !address.isAnyLocalAddress()) {
        return address;
      }
    } catch (IOException | java.io.UncheckedIOException e) {
      throw new VerbsException(
          VerbsError.NO_DEVICE, "no route to " + host.getHostAddress() + ": " + e.getMessage(), e);
    }
    throw noDevice("no route to " + host.getHostAddress());
  }

  private static NetworkInterface interfaceOf(Inet4Address local) {
    NetworkInterface link = find(local);
    if (link == null && local.isLoopbackAddress()) {
      link = find((Inet4Address) InetAddress.getLoopbackAddress());
    }
    if (link == null) {
      throw noDevice(local.getHostAddress() + " is no address of this machine");
    }
    return link;
  }

  private static @Nullable NetworkInterface find(InetAddress address) {
    try {
      return NetworkInterface.getByInetAddress(address);
    } catch (SocketException e) {
      throw new VerbsException(
          VerbsError.IO, "network interface of " + address.getHostAddress(), e);
    }
  }

  private static @Nullable Inet4Address first(NetworkInterface link) {
    return link.inetAddresses()
        .filter(Inet4Address.class::isInstance)
        .map(Inet4Address.class::cast)
        .findFirst()
        .orElse(null);
  }

  private static VerbsException noDevice(String message) {
    return new VerbsException(VerbsError.NO_DEVICE, message);
  }
}
