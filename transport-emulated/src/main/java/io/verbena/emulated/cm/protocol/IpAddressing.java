// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The header with IP addresses that {@code rdma_cm} puts before the program's private data in a
 * request (annex on the IP addressing of CM private data).
 *
 * <pre>
 *  0 version 0 | 1 IP version 4, reserved 4 | 2 source port 2 | 4 source 16 | 20 destination 16
 * </pre>
 *
 * @param ipVersion 4 or 6
 * @param sourcePort the port of the active end
 * @param source the address of the active end; an IPv4 address in the low 32 bits, and all others 0
 *     except the port of {@link #at}
 * @param destination the address of the passive end
 */
public record IpAddressing(int ipVersion, int sourcePort, Gid source, Gid destination) {
  /** The number of bytes of this header. */
  public static final int LENGTH = 36;

  private static final int IP_VERSION_OFFSET = 1;
  private static final int IP_VERSION_SHIFT = 4;
  private static final int PORT_OFFSET = 2;
  private static final int SOURCE_OFFSET = 4;
  private static final int DESTINATION_OFFSET = 20;
  private static final int PORT_MASK = 0xffff;

  /** Returns IPv4 addressing; each address has its first byte in the high bits. */
  public static IpAddressing ipv4(int sourcePort, int source, int destination) {
    return new IpAddressing(
        4, sourcePort, new Gid(0, source & 0xffff_ffffL), new Gid(0, destination & 0xffff_ffffL));
  }

  /**
   * Returns the same IPv4 addressing for an HCA that receives packets on this UDP port. A port
   * other than RoCEv2's is written to bytes that other implementations ignore, since a SIDR_REQ has
   * no other place for it.
   */
  public IpAddressing at(int udpPort) {
    return new IpAddressing(
        ipVersion,
        sourcePort,
        new Gid(udpPort == RocePacket.UDP_PORT ? 0 : udpPort, source.low()),
        destination);
  }

  /** Returns the UDP port on which the HCA receives packets. */
  public int udpPort() {
    int port = ipVersion == 4 ? (int) source.high() & PORT_MASK : 0;
    return port == 0 ? RocePacket.UDP_PORT : port;
  }

  /** Returns IPv6 addressing. */
  public static IpAddressing ipv6(int sourcePort, Gid source, Gid destination) {
    return new IpAddressing(6, sourcePort, source, destination);
  }

  /** Writes the header at the buffer's position, and moves the position past it. */
  public void write(ByteBuffer into) {
    into.put((byte) 0)
        .put((byte) (ipVersion << IP_VERSION_SHIFT))
        .putShort((short) sourcePort)
        .putLong(source.high())
        .putLong(source.low())
        .putLong(destination.high())
        .putLong(destination.low());
  }

  /**
   * Reads the header from the start of private data.
   *
   * @return null if there is no header, or too few bytes for one
   */
  public static @Nullable IpAddressing read(ByteBuffer privateData) {
    int at = privateData.position();
    if (privateData.remaining() < LENGTH || privateData.get(at) != 0) {
      return null;
    }
    int version = (privateData.get(at + IP_VERSION_OFFSET) & 0xff) >>> IP_VERSION_SHIFT;
    if (version != 4 && version != 6) {
      return null;
    }
    return new IpAddressing(
        version,
        privateData.getShort(at + PORT_OFFSET) & PORT_MASK,
        gid(privateData, at + SOURCE_OFFSET),
        gid(privateData, at + DESTINATION_OFFSET));
  }

  private static Gid gid(ByteBuffer data, int at) {
    return new Gid(data.getLong(at), data.getLong(at + Long.BYTES));
  }
}
