// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.emulated.roce.PacketFault;
import io.verbena.emulated.roce.PacketOpcode.Transport;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.Gid;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import org.jspecify.annotations.Nullable;

/**
 * A wire of UDP sockets with one port. One socket receives, and four others send, one for each
 * flow.
 *
 * <p>Called only by the driver of the engines, except {@link #await} and {@link #wakeup}; see
 * {@link HostWire}.
 */
public final class UdpWire implements HostWire {
  /** The buffer size that is requested of the kernel, which may be configured to give less. */
  private static final int BUFFER_BYTES = 4 << 20;

  private static final int PACKET_OVERHEAD = 512;
  private static final int FLOWS = 4;
  private static final int NANOS_PER_MILLI = 1_000_000;

  private final DatagramChannel receiving;
  private final UdpFlow[] flows = new UdpFlow[FLOWS];
  private final Selector selector;
  private final Gid gid;
  private final boolean ipv6;
  private final int udpPort;
  private final int bufferBytes;

  /** True if packets are over IPv4, and the IP identification can be set to 0. */
  private final boolean identified;

  private final RocePacket packet = RocePacket.direct();
  private final UdpPeers peers = new UdpPeers();
  private @Nullable InetSocketAddress lastSender;
  private Gid lastSource = new Gid(0, 0);
  private @Nullable UdpPort port;
  private @Nullable Capture capture;

  /** True if the socket may have more packets than the last {@link #receive} took. */
  private boolean behind;

  private volatile boolean closed;

  /**
   * The flow whose socket is full; set by the driver of the engines, read by the thread in {@link
   * #await}.
   */
  private volatile @Nullable UdpFlow full;

  /** Observes packets, for captures. Called by the driver of the engines. */
  public interface Capture {

    /**
     * Called when a packet leaves or arrives, but only once for a packet of this wire to itself.
     *
     * @param packet the packet, sealed or as received, valid or not; the wire owns it again on
     *     return
     */
    void packet(RocePacket packet);

    /** Called once, when the wire is closed. */
    void close();
  }

  private UdpWire(DatagramChannel receiving, Selector selector, InetAddress local)
      throws IOException {
    this.receiving = receiving;
    this.selector = selector;
    ipv6 = local instanceof Inet6Address;
    boolean dontFragment = true;
    try {
      receiving.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER_BYTES);
      for (int i = 0; i < FLOWS; i++) {
        flows[i] = new UdpFlow(local);
        dontFragment &= flows[i].leavesIdentification();
      }
      receiving.configureBlocking(false);
      receiving.register(selector, SelectionKey.OP_READ);
      bufferBytes = receiving.getOption(StandardSocketOptions.SO_RCVBUF);
      udpPort = ((InetSocketAddress) receiving.getLocalAddress()).getPort();
      gid = UdpGid.of(local, udpPort);
    } catch (IOException e) {
      close();
      throw e;
    }
    identified = dontFragment && !ipv6;
  }

  /**
   * Opens the sockets.
   *
   * @param local the address of this machine to bind to
   * @param udpPort the UDP port on which to receive packets; 0 for any free port
   * @throws IOException if the port is taken ({@link java.net.BindException}), or the operating
   *     system fails otherwise
   */
  public static UdpWire open(InetAddress local, int udpPort) throws IOException {
    DatagramChannel receiving = DatagramChannel.open(family(local));
    boolean bound = false;
    try {
      receiving.bind(new InetSocketAddress(local, udpPort));
      UdpWire wire = new UdpWire(receiving, Selector.open(), local);
      bound = true;
      return wire;
    } finally {
      if (!bound) {
        receiving.close();
      }
    }
  }

  static ProtocolFamily family(InetAddress local) {
    return local instanceof Inet6Address
        ? StandardProtocolFamily.INET6
        : StandardProtocolFamily.INET;
  }

  /** Returns the UDP port on which this wire receives packets. */
  public int udpPort() {
    return udpPort;
  }

  /**
   * Returns whether packets from this wire pass a strict check of their invariant CRC. Over IPv4
   * before JDK 19, the kernel chooses an unpredictable IP identification, which emulated HCAs
   * recover; other HCAs drop the packets. IPv6 has no identification.
   */
  public boolean passesStrictChecks() {
    return identified || ipv6;
  }

  /**
   * {@inheritDoc} Assumes that the other end's buffer has the same size. The kernel counts the
   * memory of a packet, which may be twice its payload, and doubles the requested buffer size.
   */
  @Override
  public int bufferedPackets(int payload) {
    return 2 * bufferBytes / (2 * payload + PACKET_OVERHEAD);
  }

  /** Sets the capture to call for each packet from now on, closed with the wire; null for none. */
  public void capture(@Nullable Capture newCapture) {
    capture = newCapture;
  }

  @Override
  public UdpPort attach(Receiver receiver) {
    if (port != null) {
      throw new IllegalStateException("ports: 1 (expected: < 1)");
    }
    UdpPort attached = new UdpPort(receiver);
    port = attached;
    return attached;
  }

  @Override
  public int receive(int most) {
    int count = take(most);
    behind = count == most;
    return count;
  }

  private int take(int most) {
    UdpPort to = port;
    int count = 0;
    while (count < most && to != null && !closed) {
      InetSocketAddress sender;
      ByteBuffer space = packet.udpSpace();
      try {
        sender = (InetSocketAddress) receiving.receive(space);
      } catch (IOException e) {
        // An ICMP error of a sent packet: nothing to do, since its answer will be missing.
        return count;
      }
      if (sender == null) {
        return count;
      }
      count++;
      PacketFault fault =
          parse(
              space.position() - RocePacket.UDP_PAYLOAD_OFFSET, sourceOf(sender), sender.getPort());
      if (capture != null) {
        capture.packet(packet);
      }
      to.receiver.receive(packet, fault);
    }
    return count;
  }

  private PacketFault parse(int received, Gid source, int sourcePort) {
    return ipv6
        ? packet.parseUdp(received, source, sourcePort, gid)
        : packet.parseUdp(received, UdpGid.address(source), sourcePort, UdpGid.address(gid));
  }

  /**
   * Returns the GID of a sender. Caches the last one, since consecutive packets mostly have the
   * same sender.
   */
  private Gid sourceOf(InetSocketAddress sender) {
    if (!sender.equals(lastSender)) {
      lastSender = sender;
      lastSource = UdpGid.of(sender.getAddress(), RocePacket.UDP_PORT);
    }
    return lastSource;
  }

  @Override
  public @Nullable UnreachableReports unreachableReports(int flow, Gid of) {
    return flows[flow & FLOWS - 1].unreachableReports(peers.address(of.high(), of.low()));
  }

  /** Returns whether a sending socket is connected. */
  boolean isConnected() {
    for (UdpFlow flow : flows) {
      if (flow.isConnected()) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void await(long nanos) {
    UdpFlow waitedFor = full;
    try {
      if (waitedFor != null && !watchForRoom(waitedFor, true)) {
        return;
      }
      long millis = nanos / NANOS_PER_MILLI;
      if (millis == 0) {
        selector.selectNow();
      } else {
        selector.select(millis);
      }
      selector.selectedKeys().clear();
      if (waitedFor != null) {
        boolean unused = watchForRoom(waitedFor, false);
      }
    } catch (ClosedSelectorException e) {
      // The wire was closed meanwhile, so there is nothing to wait for.
      return;
    } catch (IOException e) {
      throw new IllegalStateException("select", e);
    }
  }

  /**
   * Registers or deregisters the full socket of a flow; returns false if it was closed and replaced
   * by another one.
   */
  private boolean watchForRoom(UdpFlow flow, boolean watch) {
    try {
      flow.watchForRoom(selector, watch);
      return true;
    } catch (IOException | CancelledKeyException e) {
      return false;
    }
  }

  @Override
  public void wakeup() {
    if (!closed) {
      selector.wakeup();
    }
  }

  @Override
  public void close() {
    closed = true;
    if (capture != null) {
      capture.close();
    }
    closeQuietly(receiving);
    for (UdpFlow flow : flows) {
      if (flow != null) {
        flow.close();
      }
    }
    try {
      selector.close();
    } catch (IOException e) {
      throw new IllegalStateException("close selector", e);
    }
  }

  private static void closeQuietly(DatagramChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      throw new IllegalStateException("close socket", e);
    }
  }

  public final class UdpPort implements Port {
    private final Receiver receiver;

    private UdpPort(Receiver receiver) {
      this.receiver = receiver;
    }

    @Override
    public Gid gid() {
      return gid;
    }

    @Override
    public RocePacket packet() {
      return RocePacket.direct();
    }

    @Override
    public boolean isBehind() {
      return behind;
    }

    @Override
    public int sourcePort(int flow) {
      return flows[flow & FLOWS - 1].port();
    }

    @Override
    public Outcome send(RocePacket packet, int to) {
      InetSocketAddress address =
          peers.address(UdpGid.destinationHigh(packet, to), UdpGid.destinationLow(packet));
      UdpFlow flow = flow(packet.sourcePort());
      Outcome outcome = send(packet, to, flow, address);
      if (outcome == Outcome.FULL) {
        full = flow;
        return outcome;
      }
      if (full != null) {
        full = null;
      }
      if (capture != null && (to != udpPort || !UdpGid.isTo(packet, gid))) {
        capture.packet(packet);
      }
      return outcome;
    }

    private Outcome send(RocePacket packet, int to, UdpFlow flow, InetSocketAddress address) {
      try {
        return flow.send(packet.udpPayload(), address, isIdentified(packet, to))
            ? Outcome.SENT
            : Outcome.FULL;
      } catch (IOException e) {
        // The socket is closed, there is no route, or a filter of the kernel forbids it: the packet
        // is lost, as on any network.
        return Outcome.DROPPED;
      }
    }

    /**
     * Returns whether the receiver may be an RNIC, which checks the IP identification. An RNIC does
     * not receive packets on another UDP port, and cannot acknowledge packets from an HCA on
     * another UDP port.
     */
    private boolean isIdentified(RocePacket packet, int to) {
      return identified
          && to == RocePacket.UDP_PORT
          && (udpPort == RocePacket.UDP_PORT || packet.opcode().transport() != Transport.RC);
    }

    private UdpFlow flow(int sourcePort) {
      for (UdpFlow flow : flows) {
        if (flow.port() == sourcePort) {
          return flow;
        }
      }
      throw new IllegalStateException("source port: " + sourcePort + " (expected: one of its own)");
    }

    @Override
    public void close() {
      // The sockets close with the wire.
    }
  }
}
