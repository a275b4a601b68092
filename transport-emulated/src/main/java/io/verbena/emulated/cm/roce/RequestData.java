// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.cm.protocol.IpAddressing;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;

/** The private data of a request: {@link IpAddressing}, then the program's data. */
final class RequestData {
  private RequestData() {}

  /**
   * Returns the private data of a request.
   *
   * @param port the port of the active end
   * @param data the program's data, at most {@code length} minus {@link IpAddressing#LENGTH} bytes
   * @param length the number of bytes of the message's private data
   */
  static ByteBuffer of(
      RoceConnectionManager manager, int port, Gid peer, ByteBuffer data, int length) {
    ByteBuffer all = ByteBuffer.allocate(length);
    Gid own = manager.gid();
    IpAddressing addressing =
        UdpGid.isIpv4(peer)
            ? IpAddressing.ipv4(port, UdpGid.address(own), UdpGid.address(peer))
                .at(UdpGid.udpPort(own))
            : IpAddressing.ipv6(port, own, peer);
    addressing.write(all);
    all.put(IpAddressing.LENGTH, data, data.position(), data.remaining());
    return all.clear().asReadOnlyBuffer();
  }

  /** Returns the port of the active end; 0 if there is none. */
  static int port(ByteBuffer all) {
    IpAddressing from = IpAddressing.read(all);
    return from == null ? 0 : from.sourcePort();
  }

  /** Returns the program's part of the private data. */
  static ByteBuffer ofProgram(ByteBuffer all) {
    return IpAddressing.read(all) == null
        ? all
        : all.slice(IpAddressing.LENGTH, all.remaining() - IpAddressing.LENGTH);
  }
}
