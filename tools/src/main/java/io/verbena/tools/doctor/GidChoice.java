// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.doctor;

import io.verbena.tools.end.ConnectionEventWait;
import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.Gid;
import io.verbena.verbs.VerbsException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The GID that a device of the kernel connects from, and the reason. The address comes first, from
 * the URI or by the route; the type, RoCE v1 or v2, is the system's default for the port.
 *
 * @param index of the GID, or -1 if the table has none of the address, as on iWARP
 * @param address that connections come from, or null if there is none
 * @param why the reason for the choice, or what is missing
 * @param isAsked whether the URI requests exactly this GID, of any type
 */
record GidChoice(int index, @Nullable InetAddress address, String why, boolean isAsked) {
  static final String V2 = "RoCE v2";
  private static final String V1 = "IB/RoCE v1";
  private static final Pattern ASKED = Pattern.compile("(?:^|&)gid=(\\d{1,4})(?:&|$)");
  private static final Duration LIMIT = Duration.ofSeconds(5);

  static GidChoice of(ExaminedDevice patient) throws InterruptedException {
    List<Gid> gids = patient.port().gids();
    String query = patient.uri().getRawQuery();
    Matcher asked = ASKED.matcher(query == null ? "" : query);
    if (asked.find()) {
      int index = Integer.parseInt(asked.group(1));
      return new GidChoice(index, address(gids.get(index)), "gid=" + index + " of the URI", true);
    }
    if (inetAddress(patient.uri().getHost()).isAnyLocalAddress()) {
      for (Gid gid : gids) {
        if (isUsable(gid) && patient.hasAddressesAsGids()) {
          return byAddress(patient, address(gid), "the device's first address");
        }
      }
      return new GidChoice(-1, null, "there is no GID of an address", false);
    }
    try {
      InetAddress own = resolved(patient);
      return byAddress(patient, own, "rdma_cm connects to " + patient.uri().getHost() + " from it");
    } catch (ToolFailure | VerbsException e) {
      return new GidChoice(-1, null, String.valueOf(e.getMessage()), false);
    }
  }

  /** Returns the GID that the connection manager chooses by itself. */
  static InetAddress resolved(ExaminedDevice patient) throws InterruptedException, ToolFailure {
    URI uri = patient.uri();
    try (ConnectionManager manager = patient.device().createConnectionManager();
        ConnectionIdentifier active = manager.resolve(port(uri, 1), LIMIT.toNanos())) {
      new ConnectionEventWait(manager, LIMIT).expect(ConnectionEvent.Type.ADDR_RESOLVED);
      InetSocketAddress local = active.localAddress();
      if (local == null) {
        throw new ToolFailure("no address leads to " + uri.getHost(), "");
      }
      return local.getAddress();
    }
  }

  /** The same host, and nothing else but a port. */
  private static URI port(URI uri, int port) {
    return URI.create(uri.getScheme() + "://" + uri.getHost() + ":" + port);
  }

  /** The table has each address once for each type, and rdma_cm takes the first that fits. */
  private static GidChoice byAddress(ExaminedDevice patient, InetAddress address, String why) {
    String mode = mode(patient);
    List<Gid> gids = patient.port().gids();
    int ofAnotherType = -1;
    for (int i = 0; i < gids.size(); i++) {
      if (isSet(gids.get(i)) && address(gids.get(i)).equals(address)) {
        String type = patient.gidType(i);
        if (type == null || type.equals(mode)) {
          return new GidChoice(i, address, why, false);
        }
        ofAnotherType = ofAnotherType < 0 ? i : ofAnotherType;
      }
    }
    return new GidChoice(ofAnotherType, address, why, false);
  }

  /** The type of connections: the configured one, else v2 if the device has it (cma.c). */
  static String mode(ExaminedDevice patient) {
    String mode =
        patient
            .files()
            .read(
                "sys/kernel/config/rdma_cm/"
                    + patient.name()
                    + "/"
                    + patient.ofPort()
                    + "default_roce_mode");
    if (mode != null) {
      return mode;
    }
    boolean hasV2 =
        IntStream.range(0, patient.port().gids().size())
            .anyMatch(index -> V2.equals(patient.gidType(index)));
    return hasV2 ? V2 : V1;
  }

  private static boolean isSet(Gid gid) {
    return gid.high() != 0 || gid.low() != 0;
  }

  /** Returns whether a connection can use the address without naming an interface. */
  private static boolean isUsable(Gid gid) {
    return isSet(gid) && !address(gid).isLinkLocalAddress();
  }

  private static InetAddress address(Gid gid) {
    byte[] bytes = ByteBuffer.allocate(16).putLong(gid.high()).putLong(gid.low()).array();
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new AssertionError("16 bytes are an address", e);
    }
  }

  private static InetAddress inetAddress(String host) {
    try {
      return InetAddress.getByName(host);
    } catch (UnknownHostException e) {
      // The device was opened by it.
      throw new AssertionError(host, e);
    }
  }
}
