// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.Gid;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * GIDs of HCAs on UDP, as in RoCEv2: an IPv6 address itself, or an IPv4 address as {@code
 * ::ffff:a.b.c.d}. An HCA on IPv4 that uses another UDP port than {@link RocePacket#UDP_PORT} has
 * that port in the low 16 bits of the subnet prefix; only emulated HCAs can reach it. With IPv6 a
 * GID has no room for the port.
 */
public final class UdpGid {
  private static final long IPV4_MAPPED = 0xffff_0000_0000L;
  private static final int MAX_PORT = 0xffff;
  private static final int IPV4_BYTES = 4;

  private UdpGid() {}

  /**
   * Returns the GID of an HCA on IPv4.
   *
   * @param address the IPv4 address, with the first byte in the high bits
   * @param udpPort the UDP port on which the HCA receives packets
   */
  public static Gid of(int address, int udpPort) {
    return new Gid(udpPort == RocePacket.UDP_PORT ? 0 : udpPort, low(address));
  }

  /**
   * Returns the GID of an HCA.
   *
   * @param udpPort the UDP port on which the HCA receives packets; ignored with IPv6
   */
  public static Gid of(InetAddress address, int udpPort) {
    ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
    return bytes.remaining() == IPV4_BYTES
        ? of(bytes.getInt(), udpPort)
        : new Gid(bytes.getLong(), bytes.getLong());
  }

  /**
   * Returns the GID of the HCA on {@link RocePacket#UDP_PORT} at the address that a packet came
   * from.
   */
  public static Gid ofSource(RocePacket packet) {
    return packet.isOverIpv6()
        ? new Gid(packet.sourceHigh(), packet.sourceLow())
        : of(packet.sourceAddress(), RocePacket.UDP_PORT);
  }

  private static long low(int address) {
    return IPV4_MAPPED | (address & 0xffff_ffffL);
  }

  /** Returns whether a GID belongs to an HCA on IPv4. */
  public static boolean isIpv4(Gid gid) {
    return isIpv4(gid.high(), gid.low());
  }

  private static boolean isIpv4(long high, long low) {
    return (high & ~MAX_PORT) == 0 && low >>> Integer.SIZE == IPV4_MAPPED >>> Integer.SIZE;
  }

  /**
   * Returns whether packets can go from one HCA to the other: both are on IPv4, or both on IPv6,
   * and the destination is not 0.
   */
  public static boolean isReachable(Gid from, Gid to) {
    return isIpv4(from) == isIpv4(to) && (to.high() | to.low()) != 0;
  }

  /** Returns whether two HCAs have the same IP address; their UDP ports may differ. */
  public static boolean areNeighbors(Gid one, Gid other) {
    return one.low() == other.low() && (isIpv4(one) ? isIpv4(other) : one.high() == other.high());
  }

  /** Returns the GID of the HCA on {@link RocePacket#UDP_PORT} at the same address. */
  public static Gid plain(Gid gid) {
    return isIpv4(gid) ? of(address(gid), RocePacket.UDP_PORT) : gid;
  }

  /** Returns whether a packet came from the address of an HCA. */
  public static boolean isFrom(RocePacket packet, Gid gid) {
    return packet.isOverIpv6()
        ? packet.sourceLow() == gid.low() && packet.sourceHigh() == gid.high()
        : isIpv4(gid) && packet.sourceAddress() == address(gid);
  }

  /** Returns whether a packet goes to the address of an HCA. */
  public static boolean isTo(RocePacket packet, Gid gid) {
    return packet.isOverIpv6()
        ? packet.destinationLow() == gid.low() && packet.destinationHigh() == gid.high()
        : isIpv4(gid) && packet.destinationAddress() == address(gid);
  }

  /** Addresses a packet from one HCA to another that is {@linkplain #isReachable reachable}. */
  public static void address(RocePacket packet, Gid from, Gid to) {
    if (isIpv4(to)) {
      packet.addresses(address(from), address(to));
    } else {
      packet.addresses(from, to);
    }
  }

  /** Returns the high half of the GID that a packet goes to. */
  static long destinationHigh(RocePacket packet, int udpPort) {
    return packet.isOverIpv6()
        ? packet.destinationHigh()
        : udpPort == RocePacket.UDP_PORT ? 0 : udpPort;
  }

  /** Returns the low half of the GID that a packet goes to. */
  static long destinationLow(RocePacket packet) {
    return packet.isOverIpv6() ? packet.destinationLow() : low(packet.destinationAddress());
  }

  /** Returns the IPv4 address in a GID. */
  public static int address(Gid gid) {
    return (int) gid.low();
  }

  /** Returns the IP address in a GID. */
  public static InetAddress inetAddress(Gid gid) {
    ByteBuffer bytes =
        isIpv4(gid)
            ? ByteBuffer.allocate(IPV4_BYTES).putInt(address(gid))
            : ByteBuffer.allocate(2 * Long.BYTES).putLong(gid.high()).putLong(gid.low());
    try {
      return InetAddress.getByAddress(bytes.array());
    } catch (UnknownHostException e) {
      throw new AssertionError("4 or 16 bytes are an address", e);
    }
  }

  /** Returns the UDP port of a GID: {@link RocePacket#UDP_PORT} if it names none. */
  public static int udpPort(Gid gid) {
    return isIpv4(gid) && gid.high() != 0 ? (int) gid.high() : RocePacket.UDP_PORT;
  }
}
