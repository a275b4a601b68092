// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * The 40 bytes in front of a received datagram, which hold its sender's address: the IP header of
 * RoCEv2, in the place of InfiniBand's GRH (IBTA volume 1, annex A17; RFC 8200, RFC 791). An IPv6
 * header fills the area. An IPv4 header, whose addresses are GIDs of the form ::ffff:a.b.c.d, fills
 * the last 20 bytes.
 *
 * <pre>
 *  IPv6:  0 version 4 | class 8 | flow label 20    IPv4: 20 version 4 | words 4
 *         4 payload length                               21 class
 *         6 next header                                  22 total length
 *         7 hop limit                                    29 protocol; 28 hop limit
 *         8 source                                       32 source
 *        24 destination                                  36 destination
 * </pre>
 */
public final class GlobalRoute {
  /** The length of the area, in bytes. */
  public static final int LENGTH = 40;

  private static final int IPV6_LENGTH = 4;
  private static final int IPV6_NEXT = 6;
  private static final int IPV6_HOPS = 7;
  private static final int IPV6_SOURCE = 8;
  private static final int IPV6_DESTINATION = 24;
  private static final int IPV4 = 20;
  private static final int IPV4_CLASS = IPV4 + 1;
  private static final int IPV4_LENGTH = IPV4 + 2;
  private static final int IPV4_FRAGMENT = IPV4 + 6;
  private static final int IPV4_HOPS = IPV4 + 8;
  private static final int IPV4_PROTOCOL = IPV4 + 9;
  private static final int IPV4_CHECKSUM = IPV4 + 10;
  private static final int IPV4_SOURCE = IPV4 + 12;
  private static final int IPV4_DESTINATION = IPV4 + 16;

  private static final int UDP = 17;
  private static final int VERSION_6 = 6;
  private static final int IPV4_FIRST = 0x45;
  private static final int DONT_FRAGMENT = 0x4000;
  private static final long MAPPED = 0xffff_0000_0000L;

  /** UDP 8, BTH 12, DETH 8, ICRC 4. */
  private static final int TRANSPORT = 32;

  private static final int HOPS = 64;

  private GlobalRoute() {}

  /** Returns whether a GID is an IPv4-mapped address. */
  public static boolean isIpv4(Gid gid) {
    return gid.high() == 0 && (gid.low() & 0xffff_ffff_0000_0000L) == MAPPED;
  }

  /**
   * Writes the area of a datagram that is sent.
   *
   * @param area {@link #LENGTH} bytes, written from index 0 on
   * @param way the path to the receiver
   * @param source the sender's GID
   * @param payload the length of the payload, in bytes
   * @param extra the length of further headers, in bytes
   */
  public static void write(ByteBuffer area, AddressVector way, Gid source, int payload, int extra) {
    int bytes = TRANSPORT + extra + (payload + 3 & ~3);
    area.order(ByteOrder.BIG_ENDIAN);
    if (isIpv4(way.destination())) {
      writeIpv4(area, way, source, IPV4 + bytes);
    } else {
      area.putInt(0, VERSION_6 << 28 | way.trafficClass() << 20 | way.flowLabel());
      area.putShort(IPV6_LENGTH, (short) bytes);
      area.put(IPV6_NEXT, (byte) UDP);
      area.put(IPV6_HOPS, (byte) way.hopLimit());
      putGid(area, IPV6_SOURCE, source);
      putGid(area, IPV6_DESTINATION, way.destination());
    }
  }

  private static void writeIpv4(ByteBuffer area, AddressVector way, Gid source, int bytes) {
    for (int at = 0; at < IPV4; at += Long.BYTES) {
      area.putLong(at, 0);
    }
    area.put(IPV4, (byte) IPV4_FIRST);
    area.put(IPV4_CLASS, (byte) way.trafficClass());
    area.putShort(IPV4_LENGTH, (short) bytes);
    area.putShort(IPV4_LENGTH + Short.BYTES, (short) 0);
    area.putShort(IPV4_FRAGMENT, (short) DONT_FRAGMENT);
    area.put(IPV4_HOPS, (byte) way.hopLimit());
    area.put(IPV4_PROTOCOL, (byte) UDP);
    area.putShort(IPV4_CHECKSUM, (short) 0);
    area.putInt(IPV4_SOURCE, (int) source.low());
    area.putInt(IPV4_DESTINATION, (int) way.destination().low());
    area.putShort(IPV4_CHECKSUM, (short) ~ipv4Sum(area));
  }

  /** Returns the ones' complement sum over the IPv4 header: all ones if the header is intact. */
  private static int ipv4Sum(ByteBuffer area) {
    int sum = 0;
    for (int at = IPV4; at < LENGTH; at += Short.BYTES) {
      sum += area.getShort(at) & 0xffff;
    }
    return (sum & 0xffff) + (sum >>> 16);
  }

  private static void putGid(ByteBuffer area, int at, Gid gid) {
    area.putLong(at, gid.high());
    area.putLong(at + Long.BYTES, gid.low());
  }

  /**
   * Returns the path back to a datagram's sender, as {@code ibv_init_ah_from_wc(3)} does.
   *
   * @param area the area in front of the datagram, {@link #LENGTH} bytes from its position, which
   *     is not changed
   * @param local the GIDs of the port that the datagram arrived on
   * @throws VerbsException {@code INVALID} if the area has no IP header, or one for another port
   */
  public static AddressVector back(ByteBuffer area, List<Gid> local) {
    if (area.remaining() < LENGTH) {
      throw invalid("area: " + area.remaining() + " bytes (expected: >= " + LENGTH + ")");
    }
    ByteBuffer header = area.slice().order(ByteOrder.BIG_ENDIAN);
    // IPv4 first: the bytes before its header are not cleared, and may look like IPv6.
    boolean ipv4 = header.get(IPV4) == IPV4_FIRST && ipv4Sum(header) == 0xffff;
    if (!ipv4 && header.get(0) >>> 4 != VERSION_6) {
      throw invalid("area: neither IPv4 nor IPv6");
    }
    Gid source = ipv4 ? ipv4(header.getInt(IPV4_SOURCE)) : gid(header, IPV6_SOURCE);
    Gid destination = ipv4 ? ipv4(header.getInt(IPV4_DESTINATION)) : gid(header, IPV6_DESTINATION);
    int index = local.indexOf(destination);
    if (index < 0) {
      throw invalid("destination: " + destination + " (expected: one of " + local + ")");
    }
    int first = header.getInt(0);
    return ipv4
        ? new AddressVector(source, index, HOPS, header.get(IPV4_CLASS) & 0xff, 0)
        : new AddressVector(source, index, HOPS, first >>> 20 & 0xff, first & 0xf_ffff);
  }

  private static Gid ipv4(int address) {
    return new Gid(0, MAPPED | (address & 0xffff_ffffL));
  }

  private static Gid gid(ByteBuffer area, int at) {
    return new Gid(area.getLong(at), area.getLong(at + Long.BYTES));
  }

  private static VerbsException invalid(String message) {
    return new VerbsException(VerbsError.INVALID, "create address handle: " + message);
  }
}
