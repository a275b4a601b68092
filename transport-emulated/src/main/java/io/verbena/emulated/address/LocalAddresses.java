// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.address;

import io.verbena.emulated.crypto.PacketCipher;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Lists the network interfaces of this machine as devices, and chooses among their addresses. */
public final class LocalAddresses {
  private static final String PREFIX = "roce_";

  /**
   * The bytes that an MTU leaves for IP, UDP, transport headers and invariant CRC. They are more
   * than needed, as in Soft-RoCE, so that both ends of a link choose the same MTU.
   */
  private static final int HEADERS = 80;

  private static final Class<Inet4Address> IPV4 = Inet4Address.class;
  private static final Class<Inet6Address> IPV6 = Inet6Address.class;

  private LocalAddresses() {}

  /**
   * Returns the names of the devices: one for each interface that is up and has a usable address.
   */
  public static List<String> deviceNames() {
    List<String> names = new ArrayList<>();
    try {
      for (NetworkInterface each : NetworkInterface.networkInterfaces().toList()) {
        if (each.isUp() && (first(each, IPV4) != null || first(each, IPV6) != null)) {
          names.add(PREFIX + each.getName());
        }
      }
    } catch (SocketException e) {
      throw new VerbsException(VerbsError.IO, "device names: " + e.getMessage(), e);
    }
    return names;
  }

  /** Returns the name of the device with this address. */
  public static String deviceName(InetAddress local) {
    return PREFIX + interfaceOf(local).getName();
  }

  /** Returns the largest RoCE MTU that the interface with this address carries. */
  public static Mtu mtu(InetAddress local) {
    return mtu(local, HEADERS);
  }

  /** Returns the largest RoCE MTU for packets that are sealed by a lock. */
  public static Mtu lockedMtu(InetAddress local) {
    return mtu(local, HEADERS + PacketCipher.OVERHEAD);
  }

  private static Mtu mtu(InetAddress local, int headers) {
    NetworkInterface link = interfaceOf(local);
    int room;
    try {
      room = link.getMTU() - headers;
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
              + (room + headers)
              + " (expected: >= "
              + (Mtu.MTU_256.bytes() + headers)
              + ")");
    }
    return most;
  }

  /**
   * Returns the local address for a {@code roce://} address: option {@code source}, else the first
   * address of the interface that option {@code device} names, else the host if it is local, else
   * the local address of the route to the host. A wildcard host stands for any local address.
   *
   * @throws VerbsException {@code NO_DEVICE} if there is no such address
   */
  public static InetAddress choose(RoceAddress address) {
    InetAddress host = address.host();
    InetAddress source = address.source();
    if (source != null) {
      if (!source.getClass().equals(host.getClass())) {
        throw noDevice(
            "source: "
                + source.getHostAddress()
                + " (expected: of the address family of "
                + host.getHostAddress()
                + ")");
      }
      if (!isLocal(source)) {
        throw noDevice("source: " + source.getHostAddress() + " is not an address of this machine");
      }
      return usable(source);
    }
    String device = address.option(RoceAddress.Option.DEVICE);
    if (device != null) {
      return byName(device, host.getClass());
    }
    return host.isAnyLocalAddress()
        ? any(host.getClass())
        : isLocal(host) ? usable(host) : towards(host);
  }

  /**
   * Returns the address, but refuses 127.x.y.255: Java rejects it, though the kernel accepts all of
   * 127.0.0.0/8.
   */
  private static InetAddress usable(InetAddress address) {
    byte[] bytes = address.getAddress();
    if (address instanceof Inet4Address && bytes[0] == 127 && bytes[3] == (byte) 255) {
      throw noDevice(
          address.getHostAddress() + ": Java has no sockets there (expected: not 127.x.y.255)");
    }
    return address;
  }

  /**
   * Returns whether an address belongs to this machine. All of 127.0.0.0/8 does, even if the
   * interface does not list it.
   */
  static boolean isLocal(InetAddress address) {
    return (address instanceof Inet4Address && address.isLoopbackAddress())
        || find(address) != null;
  }

  private static InetAddress byName(String device, Class<? extends InetAddress> family) {
    InetAddress address = null;
    if (device.startsWith(PREFIX)) {
      try {
        NetworkInterface link = NetworkInterface.getByName(device.substring(PREFIX.length()));
        address = link == null ? null : first(link, family);
      } catch (SocketException e) {
        throw new VerbsException(VerbsError.IO, "device: " + device, e);
      }
    }
    if (address == null) {
      throw noDevice("device: " + device + " (expected: one of " + deviceNames() + ")");
    }
    return address;
  }

  /** Returns an address of any interface, preferring addresses that other hosts reach. */
  private static InetAddress any(Class<? extends InetAddress> family) {
    try {
      for (NetworkInterface each : NetworkInterface.networkInterfaces().toList()) {
        InetAddress address = each.isUp() && !each.isLoopback() ? first(each, family) : null;
        if (address != null) {
          return address;
        }
      }
    } catch (SocketException e) {
      throw new VerbsException(VerbsError.IO, "network interfaces", e);
    }
    return loopback(family);
  }

  private static InetAddress loopback(Class<? extends InetAddress> family) {
    byte[] address = family == IPV6 ? new byte[16] : new byte[] {127, 0, 0, 0};
    address[address.length - 1] = 1;
    return ofBytes(address);
  }

  private static InetAddress ofBytes(byte[] address) {
    try {
      return InetAddress.getByAddress(address);
    } catch (UnknownHostException e) {
      throw new AssertionError("4 or 16 bytes are an address", e);
    }
  }

  /** Returns the local address of the kernel's route to a host; nothing is sent. */
  private static InetAddress towards(InetAddress host) {
    InetAddress any = ofBytes(new byte[host.getAddress().length]);
    try (DatagramSocket socket = new DatagramSocket(0, any)) {
      socket.connect(new InetSocketAddress(host, 1));
      InetAddress address = socket.getLocalAddress();
      if (address.getClass().equals(host.getClass()) && !address.isAnyLocalAddress()) {
        return address;
      }
    } catch (IOException | java.io.UncheckedIOException e) {
      throw new VerbsException(
          VerbsError.NO_DEVICE, "no route to " + host.getHostAddress() + ": " + e.getMessage(), e);
    }
    throw noDevice("no route to " + host.getHostAddress());
  }

  private static NetworkInterface interfaceOf(InetAddress local) {
    NetworkInterface link = find(local);
    if (link == null && local.isLoopbackAddress() && local instanceof Inet4Address) {
      link = find(loopback(IPV4));
    }
    if (link == null) {
      throw noDevice(local.getHostAddress() + " is not an address of this machine");
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

  private static @Nullable InetAddress first(
      NetworkInterface link, Class<? extends InetAddress> family) {
    return link.inetAddresses()
        .filter(family::isInstance)
        .filter(address -> address instanceof Inet4Address || !address.isLinkLocalAddress())
        .findFirst()
        .orElse(null);
  }

  private static VerbsException noDevice(String message) {
    return new VerbsException(VerbsError.NO_DEVICE, message);
  }
}
