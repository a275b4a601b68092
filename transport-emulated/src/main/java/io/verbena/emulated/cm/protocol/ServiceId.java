// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

/**
 * Service IDs as {@code rdma_cm} forms them: a port space and a port (annex on the IP addressing of
 * CM private data).
 *
 * <pre>
 *  63        48 47        32 31          16 15        0
 *  | 0000       | 0000      | port space   | port      |
 * </pre>
 */
public final class ServiceId {
  /** The port space of reliable connections. */
  public static final int TCP = 0x0106;

  /** The port space of datagrams. */
  public static final int UDP = 0x0111;

  private static final int PORT_MASK = 0xffff;

  private ServiceId() {}

  /** Returns the service ID of a port. */
  public static long of(int portSpace, int port) {
    return (long) portSpace << Short.SIZE | (port & PORT_MASK);
  }

  /** Returns the port in a service ID. */
  public static int port(long serviceId) {
    return (int) serviceId & PORT_MASK;
  }
}
