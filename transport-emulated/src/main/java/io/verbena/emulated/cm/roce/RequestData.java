// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.cm.protocol.IpAddressing;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;

/**
 * The private data of a request: the addresses that {@code rdma_cm} puts first, then the program's
 * data.
 */
final class RequestData {
  private RequestData() {}

  /**
   * Returns all of the private data.
   *
   * @param port the port of the asking end
   * @param data the program's data, at most {@code length} less {@link IpAddressing#LENGTH}
   * @param length the bytes that the message has room for
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

  /** Returns the port of the asking end; 0 if it names none. */
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
