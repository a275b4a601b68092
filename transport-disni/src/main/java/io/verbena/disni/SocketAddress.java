// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.RdmaCore;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** {@code struct sockaddr_in} and {@code sockaddr_in6} in native memory, as Linux lays them out. */
final class SocketAddress {
  private static final int SIZE = 28;
  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;
  private static final int PORT = 2;
  private static final int IPV4_ADDRESS = 4;
  private static final int IPV6_ADDRESS = 8;
  private static final int IPV6_SCOPE = 24;

  private SocketAddress() {}

  static Block write(InetSocketAddress socket) {
    Block block = new Block(SIZE);
    ByteBuffer bytes = block.bytes();
    InetAddress address = socket.getAddress();
    boolean six = address instanceof Inet6Address;
    bytes.putShort(0, (short) (six ? AF_INET6 : AF_INET));
    bytes.duplicate().order(ByteOrder.BIG_ENDIAN).putShort(PORT, (short) socket.getPort());
    bytes.put(six ? IPV6_ADDRESS : IPV4_ADDRESS, address.getAddress());
    if (address instanceof Inet6Address scoped) {
      bytes.putInt(IPV6_SCOPE, scoped.getScopeId());
    }
    return block;
  }

  /** Returns the local or the peer's address of an identifier, or null if it has none yet. */
  static @Nullable InetSocketAddress of(RdmaCore core, long identifier, boolean peer) {
    Block block = new Block(SIZE);
    int family =
        Errno.check("socket address", core.socketAddress(identifier, peer, block.address()));
    if (family != AF_INET && family != AF_INET6) {
      return null;
    }
    ByteBuffer bytes = block.bytes();
    byte[] address = new byte[family == AF_INET ? 4 : 16];
    bytes.get(family == AF_INET ? IPV4_ADDRESS : IPV6_ADDRESS, address);
    int port = Short.toUnsignedInt(bytes.duplicate().order(ByteOrder.BIG_ENDIAN).getShort(PORT));
    int scope = family == AF_INET6 ? bytes.getInt(IPV6_SCOPE) : 0;
    try {
      // A link-local address needs its scope.
      return new InetSocketAddress(
          scope == 0
              ? InetAddress.getByAddress(address)
              : Inet6Address.getByAddress(null, address, scope),
          port);
    } catch (UnknownHostException e) {
      throw new AssertionError("an address of " + address.length + " bytes", e);
    }
  }
}
