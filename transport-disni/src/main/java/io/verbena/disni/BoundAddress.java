// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.RdmaCore;
import io.verbena.disni.core.Words.EventWords;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The device and port that librdmacm binds an identifier to for an IP address.
 *
 * @param device the name of the device that has the address, or a route to it
 * @param port the number of that device's port
 * @param isOwn whether the device has the address
 */
record BoundAddress(String device, int port, boolean isOwn) {
  private static final short PORT_SPACE_TCP = 0x0106;
  private static final int RESOLVE_MILLIS = 2000;

  /**
   * The errors of binding to an address of another host, to an address of an interface without
   * RDMA, and to a link-local address without scope.
   */
  private static final Set<Integer> NOT_OURS =
      Set.of(Errno.EADDRNOTAVAIL, Errno.ENODEV, Errno.EINVAL);

  /**
   * Finds the device that has an address, or else the device on the route to it; null if there is
   * none. Waits up to 4 s for the route.
   */
  static @Nullable BoundAddress find(RdmaCore core, InetAddress address) throws IOException {
    return find(core, address, true);
  }

  /** Finds the device that has an address; null if there is none. */
  static @Nullable BoundAddress own(RdmaCore core, InetAddress address) throws IOException {
    return find(core, address, false);
  }

  private static @Nullable BoundAddress find(RdmaCore core, InetAddress address, boolean byRoute)
      throws IOException {
    Block socket = SocketAddress.write(new InetSocketAddress(address, 0));
    long channel = core.createEventChannel();
    long id = 0;
    try {
      id = core.createId(channel, PORT_SPACE_TCP);
      boolean isOwn = binds(core, id, socket, byRoute);
      if (!isOwn && byRoute) {
        core.resolveAddr(id, 0, socket.address(), RESOLVE_MILLIS);
        awaitAddress(core, channel);
      }
      socket.keep();
      long context = core.contextOf(id);
      return context > 0
          ? new BoundAddress(DisniContext.name(core, context), core.portOf(id), isOwn)
          : null;
    } finally {
      if (id != 0) {
        core.destroyIdentifier(id);
      }
      core.destroyEventChannel(channel);
    }
  }

  private static boolean binds(RdmaCore core, long id, Block socket, boolean byRoute)
      throws IOException {
    try {
      core.bindAddr(id, socket.address());
      return true;
    } catch (IOException e) {
      // With a route to look up, the error of that look-up is the one to report.
      if (!byRoute && !NOT_OURS.contains(Errno.of(e))) {
        throw e;
      }
      return false;
    }
  }

  /**
   * Waits for the result of resolveAddr, ADDR_RESOLVED or an error; only the former binds a device.
   */
  private static void awaitAddress(RdmaCore core, long channel) {
    int wakeup = Errno.check("eventfd", core.openWakeup());
    try {
      int ready = core.connectionEventReady(channel, wakeup, 2 * RESOLVE_MILLIS);
      if (Errno.check("await address", ready) > 0) {
        Block words = Block.of(EventWords.values());
        Block data = new Block(256);
        int came = core.connectionEvent(channel, words.address(), data.address());
        words.keep();
        data.keep();
        Errno.check("get event", came);
      }
    } finally {
      Errno.check("close eventfd", core.closeWakeup(wakeup));
    }
  }
}
