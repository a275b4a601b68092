// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.emulated.address.LocalAddresses;
import io.verbena.emulated.address.RoceAddress;
import io.verbena.emulated.address.RoceAddress.Option;
import io.verbena.emulated.cm.protocol.PeerLimits;
import io.verbena.emulated.cm.roce.RoceConnectionManagers;
import io.verbena.emulated.cm.roce.RoceNaming;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.packet.Capture;
import io.verbena.emulated.packet.HostFabric;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.ClockTime;
import io.verbena.emulated.wire.UdpWire;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.BindException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The HCAs on UDP sockets that are open in this JVM, one for each local address and UDP port, and
 * their connection managers.
 */
final class UdpFabrics {
  private static final Logger LOG = System.getLogger(UdpFabrics.class.getName());

  /** Held while a device is opened or closed. */
  private static final Object LOCK = new Object();

  private static final AtomicBoolean LOGGED = new AtomicBoolean();
  private static final Map<LocalEndpoint, Open> OPEN = new HashMap<>();

  /**
   * The address and port that were requested for an HCA. If the port was in use, the HCA has
   * another port, and later opens of the same endpoint still find the HCA.
   */
  private record LocalEndpoint(InetAddress address, int udpPort) {}

  private record Open(
      HostFabric fabric,
      RoceConnectionManagers managers,
      @Nullable String capture,
      PeerLimits limits) {}

  private UdpFabrics() {}

  /**
   * Opens a device.
   *
   * @throws VerbsException {@code NO_DEVICE} if no address of this machine reaches the host; {@code
   *     INVALID} if the MTU, capture or limits differ from those of the HCA that is already open;
   *     {@code ADDRESS_IN_USE} if the UDP port is in use over IPv6; {@code IO} if no socket can be
   *     opened
   */
  static EmulatedDevice open(RoceAddress address) {
    InetAddress local = LocalAddresses.choose(address);
    boolean own = address.host().equals(local) || address.host().isAnyLocalAddress();
    LocalEndpoint endpoint =
        new LocalEndpoint(local, own ? address.udpPort() : RocePacket.UDP_PORT);
    String capture = address.option(Option.PCAP);
    // Checked before an HCA starts: only its last device ends an HCA, so one without devices would
    // not end.
    DeviceAttributes attributes =
        DeviceLimits.ofWire(LocalAddresses.deviceName(local), address.limits());
    synchronized (LOCK) {
      Open open = OPEN.get(endpoint);
      if (open == null) {
        PeerLimits limits =
            new PeerLimits(
                address.limit(Option.MAX_HALF_OPEN, PeerLimits.DEFAULT.halfOpen()),
                address.limit(Option.MAX_HALF_OPEN_PER_PEER, PeerLimits.DEFAULT.halfOpenPerPeer()),
                address.limit(Option.MAX_CONNECTIONS_PER_PEER, PeerLimits.DEFAULT.perPeer()));
        open = start(endpoint, address, capture, own, limits);
        OPEN.put(endpoint, open);
      }
      check(open, address, capture, own);
      return EmulatedDevice.open(open.fabric, attributes, open.managers);
    }
  }

  /**
   * Checks an address against an HCA that is already open. A peer's address may name a larger MTU
   * than this end has: connections use the smaller one.
   */
  private static void check(Open open, RoceAddress address, @Nullable String capture, boolean own) {
    Mtu asked = address.mtu();
    Mtu has = open.fabric.mtu();
    if (asked != null && (own ? asked != has : asked.compareTo(has) < 0)) {
      throw new VerbsException(
          VerbsError.INVALID,
          "mtu: " + asked.bytes() + " (expected: " + has.bytes() + ", of the HCA that is open)");
    }
    if (capture != null && !Objects.equals(capture, open.capture)) {
      throw new VerbsException(
          VerbsError.INVALID,
          "pcap: " + capture + " (expected: " + open.capture + ", of the HCA that is open)");
    }
    checkLimit(address, Option.MAX_HALF_OPEN, open.limits.halfOpen());
    checkLimit(address, Option.MAX_HALF_OPEN_PER_PEER, open.limits.halfOpenPerPeer());
    checkLimit(address, Option.MAX_CONNECTIONS_PER_PEER, open.limits.perPeer());
  }

  private static void checkLimit(RoceAddress address, Option option, int has) {
    int asked = address.limit(option, has);
    if (asked != has) {
      throw new VerbsException(
          VerbsError.INVALID,
          option.text() + ": " + asked + " (expected: " + has + ", of the HCA that is open)");
    }
  }

  private static Open start(
      LocalEndpoint endpoint,
      RoceAddress address,
      @Nullable String capture,
      boolean own,
      PeerLimits limits) {
    Mtu most = LocalAddresses.mtu(endpoint.address);
    Mtu asked = address.mtu();
    boolean fits = asked == null || asked.compareTo(most) <= 0;
    if (own && !fits) {
      throw new VerbsException(
          VerbsError.INVALID,
          "mtu: " + asked.bytes() + " (expected: <= " + most.bytes() + ", the interface's limit)");
    }
    Mtu mtu = asked == null || !fits ? most : asked;
    UdpWire wire = bind(endpoint);
    if (!wire.passesStrictChecks() && LOGGED.compareAndSet(false, true)) {
      LOG.log(
          Level.INFO,
          "roce: before JDK 19 a UDP socket cannot choose its IP identification: only HCAs of"
              + " the same kind accept its packets, RNICs and Soft-RoCE drop them");
    }
    try {
      wire.capture(capture == null ? null : Capture.to(capture));
      HostFabric fabric =
          new HostFabric(
              wire,
              new ClockTime(),
              LocalAddresses.deviceName(endpoint.address),
              mtu,
              LocalAddresses.lockedMtu(endpoint.address),
              LOCK,
              () -> OPEN.remove(endpoint));
      RoceNaming naming = new RoceNaming(fabric.port().gid(), wire.udpPort(), mtu);
      return new Open(fabric, new RoceConnectionManagers(fabric, limits, naming), capture, limits);
    } catch (RuntimeException | Error e) {
      wire.close();
      throw e;
    }
  }

  private static UdpWire bind(LocalEndpoint endpoint) {
    try {
      return UdpWire.open(endpoint.address, endpoint.udpPort);
    } catch (BindException taken) {
      if (endpoint.address instanceof Inet6Address) {
        throw new VerbsException(
            VerbsError.ADDRESS_IN_USE,
            "UDP port "
                + endpoint.udpPort
                + " on "
                + RoceAddress.text(endpoint.address)
                + " is in use, and over IPv6 an HCA can use no other port",
            taken);
      }
      try {
        return UdpWire.open(endpoint.address, 0);
      } catch (IOException e) {
        throw failure(endpoint, e);
      }
    } catch (IOException e) {
      throw failure(endpoint, e);
    }
  }

  private static VerbsException failure(LocalEndpoint endpoint, IOException e) {
    return new VerbsException(
        VerbsError.IO, "UDP sockets on " + RoceAddress.text(endpoint.address) + ": " + e, e);
  }
}
