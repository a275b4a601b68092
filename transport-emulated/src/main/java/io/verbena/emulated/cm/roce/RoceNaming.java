// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.address.RoceAddress;
import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.InetAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Maps addresses {@code roce://host:port}. Hosts are IP addresses; each HCA has its own ports. */
public final class RoceNaming implements HostNaming {
  private final Gid host;
  private final int udpPort;
  private final Mtu mtu;

  /**
   * Creates the naming of an HCA.
   *
   * @param udpPort the UDP port on which the HCA receives packets
   * @param mtu the largest path MTU of the HCA
   */
  public RoceNaming(Gid host, int udpPort, Mtu mtu) {
    this.host = host;
    this.udpPort = udpPort;
    this.mtu = mtu;
  }

  @Override
  public Asked listen(PortSpace space, URI address) {
    RoceAddress parsed = RoceAddress.parse(address);
    InetAddress asked = parsed.host();
    if (!asked.isAnyLocalAddress() && !UdpGid.areNeighbors(UdpGid.of(asked, 0), host)) {
      throw new VerbsException(
          VerbsError.INVALID,
          "listen: "
              + address
              + ": "
              + RoceAddress.text(asked)
              + " (expected: "
              + text(host)
              + ", the device's)");
    }
    if (parsed.udpPort() != 0 && parsed.udpPort() != udpPort) {
      throw new VerbsException(
          VerbsError.ADDRESS_IN_USE,
          "listen: "
              + address
              + ": UDP port "
              + parsed.udpPort()
              + " is another HCA's; udp-port=0 takes any");
    }
    SharedSecret key = key("listen", space, parsed);
    return new Asked() {
      @Override
      public int port() {
        return parsed.port();
      }

      @Override
      public @Nullable SharedSecret key() {
        return key;
      }

      @Override
      public Claim claim(int port) {
        return new Listening(bound(parsed, port));
      }
    };
  }

  /** A claim that publishes nothing, since a peer finds a port by the HCA's address. */
  private record Listening(URI address) implements Claim {
    @Override
    public void close() {}
  }

  /**
   * Returns the key of an address, or null; rejects a key for datagrams, which have no connection
   * with keys.
   */
  private static @Nullable SharedSecret key(String verb, PortSpace space, RoceAddress of) {
    SharedSecret key = of.key();
    if (key != null && space == PortSpace.UDP) {
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED, verb + ": key-file (expected: none for datagrams)");
    }
    return key;
  }

  /**
   * Returns the address for peers: with the port, and with the options that a peer needs to
   * connect.
   */
  private URI bound(RoceAddress asked, int port) {
    StringBuilder text = new StringBuilder(name(host, port));
    char separator = '?';
    if (udpPort != RocePacket.UDP_PORT) {
      text.append(separator).append("udp-port=").append(udpPort);
      separator = '&';
    }
    if (asked.mtu() != null) {
      text.append(separator).append("mtu=").append(mtu.bytes());
      separator = '&';
    }
    String keyFile = asked.option(RoceAddress.Option.KEY_FILE);
    if (keyFile != null) {
      text.append(separator).append(RoceAddress.Option.KEY_FILE.text()).append('=');
      text.append(URLEncoder.encode(keyFile, StandardCharsets.UTF_8).replace("%2F", "/"));
    }
    return URI.create(text.toString());
  }

  @Override
  public Destination resolve(PortSpace space, URI address) {
    RoceAddress parsed = RoceAddress.parse(address);
    if (parsed.port() == 0) {
      throw new VerbsException(
          VerbsError.INVALID, "resolve: " + address + ": port: 0 (expected: 1..65535)");
    }
    if (parsed.udpPort() == 0) {
      throw new VerbsException(
          VerbsError.INVALID, "resolve: " + address + ": udp-port: 0 (expected: 1..65535)");
    }
    Gid peer =
        parsed.host().isAnyLocalAddress() ? host : UdpGid.of(parsed.host(), parsed.udpPort());
    if (!UdpGid.isReachable(host, peer)) {
      throw new VerbsException(
          VerbsError.INVALID,
          "resolve: "
              + address
              + ": "
              + RoceAddress.text(parsed.host())
              + " (expected: an address of the same kind as "
              + text(host)
              + ", the device's)");
    }
    return new Destination(
        peer,
        parsed.port(),
        parsed.mtu(),
        key("resolve", space, parsed),
        name(peer, parsed.port()));
  }

  @Override
  public String name(Gid peer, int port) {
    return RoceAddress.SCHEME + "://" + text(peer) + ':' + port;
  }

  private static String text(Gid gid) {
    return RoceAddress.text(UdpGid.inetAddress(gid));
  }
}
