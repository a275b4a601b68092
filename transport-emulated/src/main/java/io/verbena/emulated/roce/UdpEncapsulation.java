// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;

/**
 * The IP and UDP headers of a {@link RocePacket} (IBTA volume 1, annex on RoCEv2). An IPv6 header
 * is kept apart in {@link #ipv6Header}; the bytes of an IPv4 header then stay unused, so that all
 * other fields keep their offsets.
 */
public abstract sealed class UdpEncapsulation permits TransportHeaders {
  /** The UDP destination port of RoCEv2. */
  public static final int UDP_PORT = 4791;

  final ByteBuffer bytes;
  final ByteBuffer ipv6 = ByteBuffer.allocate(Ipv6Layout.LENGTH);
  boolean overIpv6;

  UdpEncapsulation(ByteBuffer bytes) {
    this.bytes = bytes;
  }

  abstract RocePacket self();

  /** Returns the IPv6 header of a packet over IPv6, for access by index. */
  public final ByteBuffer ipv6Header() {
    return ipv6;
  }

  final void startIp(int source, int destination) {
    bytes.put(Ipv4Layout.VERSION_AND_LENGTH_OFFSET, (byte) Ipv4Layout.VERSION_AND_LENGTH);
    bytes.put(Ipv4Layout.TYPE_OF_SERVICE_OFFSET, (byte) 0);
    BigEndian.putShort(bytes, Ipv4Layout.IDENTIFICATION_OFFSET, 0);
    BigEndian.putShort(bytes, Ipv4Layout.FLAGS_AND_FRAGMENT_OFFSET, Ipv4Layout.DO_NOT_FRAGMENT);
    bytes.put(Ipv4Layout.TIME_TO_LIVE_OFFSET, (byte) Ipv4Layout.DEFAULT_TIME_TO_LIVE);
    bytes.put(Ipv4Layout.PROTOCOL_OFFSET, (byte) Ipv4Layout.UDP_PROTOCOL);
    addresses(source, destination);
    BigEndian.putShort(bytes, UdpLayout.DESTINATION_PORT_OFFSET, UDP_PORT);
  }

  /** Fills in the fields that depend on the length. */
  final void sealIp(int length) {
    BigEndian.putShort(bytes, UdpLayout.LENGTH_OFFSET, length - Ipv4Layout.LENGTH);
    if (overIpv6) {
      BigEndian.putShort(ipv6, Ipv6Layout.PAYLOAD_LENGTH_OFFSET, length - Ipv4Layout.LENGTH);
      return;
    }
    BigEndian.putShort(bytes, Ipv4Layout.TOTAL_LENGTH_OFFSET, length);
    BigEndian.putShort(bytes, Ipv4Layout.CHECKSUM_OFFSET, 0);
    BigEndian.putShort(bytes, Ipv4Layout.CHECKSUM_OFFSET, Ipv4Layout.checksum(bytes));
  }

  public final int sourceAddress() {
    return bytes.getInt(Ipv4Layout.SOURCE_OFFSET);
  }

  public final int destinationAddress() {
    return bytes.getInt(Ipv4Layout.DESTINATION_OFFSET);
  }

  /** Sets both IPv4 addresses, each with its first byte in the high bits. */
  public final RocePacket addresses(int source, int destination) {
    bytes.putInt(Ipv4Layout.SOURCE_OFFSET, source);
    bytes.putInt(Ipv4Layout.DESTINATION_OFFSET, destination);
    overIpv6 = false;
    return self();
  }

  /** Makes this a packet over IPv6 and sets both addresses. */
  public final RocePacket addresses(Gid source, Gid destination) {
    overIpv6 = true;
    ipv6.putInt(Ipv6Layout.VERSION_OFFSET, Ipv6Layout.VERSION);
    ipv6.put(Ipv6Layout.NEXT_HEADER_OFFSET, (byte) Ipv6Layout.UDP_PROTOCOL);
    ipv6.put(Ipv6Layout.HOP_LIMIT_OFFSET, (byte) Ipv6Layout.DEFAULT_HOP_LIMIT);
    ipv6.putLong(Ipv6Layout.SOURCE_OFFSET, source.high());
    ipv6.putLong(Ipv6Layout.SOURCE_OFFSET + Long.BYTES, source.low());
    ipv6.putLong(Ipv6Layout.DESTINATION_OFFSET, destination.high());
    ipv6.putLong(Ipv6Layout.DESTINATION_OFFSET + Long.BYTES, destination.low());
    return self();
  }

  public final boolean isOverIpv6() {
    return overIpv6;
  }

  /** Returns the high half of the IPv6 source address. */
  public final long sourceHigh() {
    return ipv6.getLong(Ipv6Layout.SOURCE_OFFSET);
  }

  /** Returns the low half of the IPv6 source address. */
  public final long sourceLow() {
    return ipv6.getLong(Ipv6Layout.SOURCE_OFFSET + Long.BYTES);
  }

  /** Returns the high half of the IPv6 destination address. */
  public final long destinationHigh() {
    return ipv6.getLong(Ipv6Layout.DESTINATION_OFFSET);
  }

  /** Returns the low half of the IPv6 destination address. */
  public final long destinationLow() {
    return ipv6.getLong(Ipv6Layout.DESTINATION_OFFSET + Long.BYTES);
  }

  /** Returns the IP type of service: 6 bits DSCP, 2 bits ECN. */
  public final int typeOfService() {
    return BigEndian.getByte(bytes, Ipv4Layout.TYPE_OF_SERVICE_OFFSET);
  }

  public final RocePacket typeOfService(int typeOfService) {
    bytes.put(Ipv4Layout.TYPE_OF_SERVICE_OFFSET, (byte) typeOfService);
    return self();
  }

  public final int identification() {
    return BigEndian.getShort(bytes, Ipv4Layout.IDENTIFICATION_OFFSET);
  }

  public final RocePacket identification(int identification) {
    BigEndian.putShort(bytes, Ipv4Layout.IDENTIFICATION_OFFSET, identification);
    return self();
  }

  public final int timeToLive() {
    return BigEndian.getByte(bytes, Ipv4Layout.TIME_TO_LIVE_OFFSET);
  }

  public final RocePacket timeToLive(int hops) {
    bytes.put(Ipv4Layout.TIME_TO_LIVE_OFFSET, (byte) hops);
    return self();
  }

  public final int sourcePort() {
    return BigEndian.getShort(bytes, UdpLayout.SOURCE_PORT_OFFSET);
  }

  public final RocePacket sourcePort(int port) {
    BigEndian.putShort(bytes, UdpLayout.SOURCE_PORT_OFFSET, port);
    return self();
  }
}
