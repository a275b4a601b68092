// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import io.verbena.verbs.Gid;
import io.verbena.verbs.PortAttributes;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Chooses the GID of a port that an end sends from. */
public final class SourceGid {
  /** No GID: within an InfiniBand subnet, LIDs address the ports. */
  public static final int NONE = -1;

  private static final Pattern SOURCE = Pattern.compile("(?:^|&)source=([^&]*)");
  private static final Pattern IPV4 = Pattern.compile("[0-9]+(\\.[0-9]+){3}");

  private SourceGid() {}

  /**
   * Chooses a GID: the requested one, else the one of the URI's source or host address, else the
   * first of an IPv4 address, else the first that is not zero. On InfiniBand {@link #NONE} unless
   * one is requested, as in rdma-core's examples and perftest.
   *
   * @param asked the requested index, or null
   * @throws ToolFailure if there is none
   */
  public static int index(PortAttributes port, URI address, @Nullable Integer asked)
      throws ToolFailure {
    List<Gid> gids = port.gids();
    if (asked != null) {
      if (asked < 0 || asked >= gids.size()) {
        throw new ToolFailure(
            "can't read sgid of index " + asked + " (expected: 0.." + (gids.size() - 1) + ")",
            "`verbena device " + address + "` lists the GIDs");
      }
      return asked;
    }
    if (port.lid() != 0) {
      return NONE;
    }
    for (String named : named(address)) {
      int index = gids.indexOf(gid(named));
      if (index >= 0) {
        return index;
      }
    }
    int any = -1;
    for (int i = gids.size() - 1; i >= 0; i--) {
      Gid gid = gids.get(i);
      boolean isBetter = any < 0 || isIpv4(gid) || !isIpv4(gids.get(any));
      if ((gid.high() != 0 || gid.low() != 0) && isBetter) {
        any = i;
      }
    }
    if (any < 0) {
      throw new ToolFailure(
          "the port of " + address + " has no GID", "give its network interface an address");
    }
    return any;
  }

  /** The GID of an index, 0 for {@link #NONE}. */
  public static Gid of(PortAttributes port, int index) {
    return index == NONE ? new Gid(0, 0) : port.gids().get(index);
  }

  private static boolean isIpv4(Gid gid) {
    return gid.high() == 0 && gid.low() >>> 32 == 0xffff;
  }

  private static List<String> named(URI address) {
    List<String> named = new ArrayList<>();
    Matcher source = SOURCE.matcher(address.getRawQuery() == null ? "" : address.getRawQuery());
    if (source.find()) {
      named.add(source.group(1));
    }
    if (address.getHost() != null) {
      named.add(address.getHost());
    }
    // Names of emulated HCAs mean nothing elsewhere.
    named.removeIf(each -> !IPV4.matcher(each).matches() && each.indexOf(':') < 0);
    return named;
  }

  private static @Nullable Gid gid(String address) {
    try {
      byte[] bytes = InetAddress.getByName(address).getAddress();
      ByteBuffer words = ByteBuffer.wrap(bytes);
      return bytes.length == 4
          ? new Gid(0, (0xffffL << 32) | (words.getInt() & 0xffff_ffffL))
          : new Gid(words.getLong(), words.getLong());
    } catch (UnknownHostException e) {
      return null;
    }
  }
}
