// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

/**
 * The number of a service, as {@code rdma_cm} forms it: a port of a port space (annex on the IP
 * addressing of CM private data).
 *
 * <pre>
 *  63        48 47        32 31          16 15        0
 *  | 0000       | 0000      | port space   | port      |
 * </pre>
 */
public final class ServiceId {
  /** Reliable connections. */
  public static final int TCP = 0x0106;

  /** Datagrams. */
  public static final int UDP = 0x0111;

  private static final int PORT_MASK = 0xffff;

  private ServiceId() {}

  /** Returns the service of a port. */
  public static long of(int portSpace, int port) {
    return (long) portSpace << Short.SIZE | (port & PORT_MASK);
  }

  /** Returns the port of a service. */
  public static int port(long serviceId) {
    return (int) serviceId & PORT_MASK;
  }
}
