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
 * An address as rdma_cm binds an identifier to it.
 *
 * @param device the name of the device that has it, or reaches it
 * @param port the number of that device's port
 * @param isOwn whether the device has it
 */
record BoundAddress(String device, int port, boolean isOwn) {
  private static final short PORT_SPACE_TCP = 0x0106;
  private static final int RESOLVE_MILLIS = 2000;

  /**
   * Of an address elsewhere, or of an interface without RDMA; of a link-local one without scope.
   */
  private static final Set<Integer> NOT_OURS =
      Set.of(Errno.EADDRNOTAVAIL, Errno.ENODEV, Errno.EINVAL);

  /**
   * Finds the device that has an address, or else the one that reaches it; null if there is none.
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
      // Where there is a route to ask for, that says what is wrong.
      if (!byRoute && !NOT_OURS.contains(Errno.of(e))) {
        throw e;
      }
      return false;
    }
  }

  /** Waits for the answer to resolveAddr, good or bad: only a good one binds a device. */
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
