package io.verbena.emulated.wire;

import io.verbena.emulated.roce.Frame;
import io.verbena.verbs.Gid;

/**
 * GIDs of HCAs that are reached by IPv4: {@code ::ffff:a.b.c.d}, as RoCEv2 has it. An HCA that does
 * not take packets on {@link Frame#UDP_PORT} has its UDP port in the low 16 bits of the subnet
 * prefix; only HCAs of this kind know the way to it.
 */
public final class UdpGid {
  private static final long IPV4_MAPPED = 0xffff_0000_0000L;
  private static final int MAX_PORT = 0xffff;

  private UdpGid() {}

  /**
   * The GID of an HCA.
   *
   * @param address its IPv4 address, the first byte in the high bits
   * @param udpPort where it takes packets
   */
  public static Gid of(int address, int udpPort) {
    return new Gid(udpPort == Frame.UDP_PORT ? 0 : udpPort, IPV4_MAPPED | (address & 0xffff_ffffL));
  }

  /** Whether it is such a GID. */
  public static boolean isReachable(Gid gid) {
    return (gid.high() & ~MAX_PORT) == 0
        && gid.low() >>> Integer.SIZE == IPV4_MAPPED >>> Integer.SIZE;
  }

  /** The IPv4 address in it. */
  public static int address(Gid gid) {
    return (int) gid.low();
  }

  /** The UDP port in it. */
  public static int udpPort(Gid gid) {
    return gid.high() == 0 ? Frame.UDP_PORT : (int) gid.high();
  }
}
