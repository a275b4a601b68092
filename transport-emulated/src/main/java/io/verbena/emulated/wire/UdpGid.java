// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.emulated.roce.Frame;
import io.verbena.verbs.Gid;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * GIDs of HCAs on UDP: an IPv6 address as it is, an IPv4 address as {@code ::ffff:a.b.c.d}, as
 * RoCEv2 has it. An HCA on IPv4 that does not take packets on {@link Frame#UDP_PORT} has its UDP
 * port in the low 16 bits of the subnet prefix; only HCAs of this kind know the way to it. Over
 * IPv6 a GID has no room for that.
 */
public final class UdpGid {
  private static final long IPV4_MAPPED = 0xffff_0000_0000L;
  private static final int MAX_PORT = 0xffff;
  private static final int IPV4_BYTES = 4;

  private UdpGid() {}

  /**
   * The GID of an HCA on IPv4.
   *
   * @param address its IPv4 address, the first byte in the high bits
   * @param udpPort where it takes packets
   */
  public static Gid of(int address, int udpPort) {
    return new Gid(udpPort == Frame.UDP_PORT ? 0 : udpPort, low(address));
  }

  /**
   * The GID of an HCA.
   *
   * @param udpPort where it takes packets; over IPv6 it does not count
   */
  public static Gid of(InetAddress address, int udpPort) {
    ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
    return bytes.remaining() == IPV4_BYTES
        ? of(bytes.getInt(), udpPort)
        : new Gid(bytes.getLong(), bytes.getLong());
  }

  /** The GID of the plain HCA at the address that a packet came from. */
  public static Gid ofSource(Frame frame) {
    return frame.isOverIpv6()
        ? new Gid(frame.sourceHigh(), frame.sourceLow())
        : of(frame.sourceAddress(), Frame.UDP_PORT);
  }

  private static long low(int address) {
    return IPV4_MAPPED | (address & 0xffff_ffffL);
  }

  /** Whether it is one of an HCA on IPv4. */
  public static boolean isIpv4(Gid gid) {
    return isIpv4(gid.high(), gid.low());
  }

  private static boolean isIpv4(long high, long low) {
    return (high & ~MAX_PORT) == 0 && low >>> Integer.SIZE == IPV4_MAPPED >>> Integer.SIZE;
  }

  /** Whether there is a way from one to the other: both are of one kind. */
  public static boolean isReachable(Gid from, Gid to) {
    return isIpv4(from) == isIpv4(to) && (to.high() | to.low()) != 0;
  }

  /** Whether both are at one address, be it on two UDP ports. */
  public static boolean areNeighbors(Gid one, Gid other) {
    return one.low() == other.low() && (isIpv4(one) ? isIpv4(other) : one.high() == other.high());
  }

  /** The GID of the plain HCA at the address of one. */
  public static Gid plain(Gid gid) {
    return isIpv4(gid) ? of(address(gid), Frame.UDP_PORT) : gid;
  }

  /** Whether a packet came from the address of an HCA. */
  public static boolean isFrom(Frame frame, Gid gid) {
    return frame.isOverIpv6()
        ? frame.sourceLow() == gid.low() && frame.sourceHigh() == gid.high()
        : isIpv4(gid) && frame.sourceAddress() == address(gid);
  }

  /** Whether a packet goes to the address of an HCA. */
  public static boolean isTo(Frame frame, Gid gid) {
    return frame.isOverIpv6()
        ? frame.destinationLow() == gid.low() && frame.destinationHigh() == gid.high()
        : isIpv4(gid) && frame.destinationAddress() == address(gid);
  }

  /** Addresses a packet from one HCA to another that is {@linkplain #isReachable reachable}. */
  public static void address(Frame frame, Gid from, Gid to) {
    if (isIpv4(to)) {
      frame.addresses(address(from), address(to));
    } else {
      frame.addresses(from, to);
    }
  }

  /** The high half of the GID that a packet goes to. */
  static long destinationHigh(Frame frame, int udpPort) {
    return frame.isOverIpv6() ? frame.destinationHigh() : udpPort == Frame.UDP_PORT ? 0 : udpPort;
  }

  /** The low half of the GID that a packet goes to. */
  static long destinationLow(Frame frame) {
    return frame.isOverIpv6() ? frame.destinationLow() : low(frame.destinationAddress());
  }

  /** The IPv4 address in it. */
  public static int address(Gid gid) {
    return (int) gid.low();
  }

  /** The IP address in it. */
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

  /** The UDP port in it. */
  public static int udpPort(Gid gid) {
    return isIpv4(gid) && gid.high() != 0 ? (int) gid.high() : Frame.UDP_PORT;
  }
}
