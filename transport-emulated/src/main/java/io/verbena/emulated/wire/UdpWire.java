// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.emulated.roce.Frame;
import io.verbena.emulated.roce.FrameFault;
import io.verbena.emulated.roce.PacketOpcode.Transport;
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
 * UDP sockets as a wire with one port: one socket that receives, and some that send, one for each
 * flow.
 *
 * <p>For the driver of the engines; {@link #wakeup} is for any thread.
 */
public final class UdpWire implements HostWire {
  /** The buffer size asked of the kernel, which gives less if it is so configured. */
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

  /** True if the IP identification of packets has to be 0, and can be. */
  private final boolean identified;

  private final Frame frame = Frame.direct();
  private final UdpPeers peers = new UdpPeers();
  private @Nullable InetSocketAddress lastSender;
  private Gid lastSource = new Gid(0, 0);
  private @Nullable UdpPort port;
  private @Nullable Capture capture;

  /** True if there may be more packets than those taken last. */
  private boolean behind;

  private volatile boolean closed;

  /**
   * The flow whose socket has no room; set by the driver of the engines, read by the thread that
   * sleeps.
   */
  private volatile @Nullable UdpFlow full;

  /** Is called for each packet, for captures. */
  public interface Capture {

    /**
     * Called when a packet leaves or arrives; once for a packet that does both.
     *
     * @param frame the packet, sealed, or as it came, good or damaged; the wire's again on return
     */
    void packet(Frame frame);
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
   * @param local the address of this machine to use
   * @param udpPort the UDP port on which to take packets; 0 for any that is free
   * @throws IOException if the port is taken ({@link java.net.BindException}), or for the operating
   *     system's own failures
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

  /** Returns the UDP port on which it takes packets. */
  public int udpPort() {
    return udpPort;
  }

  /**
   * Returns whether its packets pass a strict check of their invariant CRC. Before JDK 19 the
   * kernel chooses an unpredictable IP identification: emulated HCAs recover it, others drop the
   * packet. IPv6 has no identification.
   */
  public boolean passesStrictChecks() {
    return identified || ipv6;
  }

  /**
   * {@inheritDoc} The other end likely has a buffer of the same size. The kernel counts the memory
   * that a packet takes, which may be twice its payload, and doubles the size that it was asked
   * for.
   */
  @Override
  public int bufferedPackets(int payload) {
    return 2 * bufferBytes / (2 * payload + PACKET_OVERHEAD);
  }

  /** Calls {@code newCapture} for each packet from now on. */
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
      ByteBuffer space = frame.udpSpace();
      try {
        sender = (InetSocketAddress) receiving.receive(space);
      } catch (IOException e) {
        // An ICMP error of a packet that was sent: nothing to do, its answer does not come.
        return count;
      }
      if (sender == null) {
        return count;
      }
      count++;
      FrameFault fault =
          parse(space.position() - Frame.UDP_PAYLOAD_OFFSET, sourceOf(sender), sender.getPort());
      if (capture != null) {
        capture.packet(frame);
      }
      to.receiver.receive(frame, fault);
    }
    return count;
  }

  private FrameFault parse(int received, Gid source, int sourcePort) {
    return ipv6
        ? frame.parseUdp(received, source, sourcePort, gid)
        : frame.parseUdp(received, UdpGid.address(source), sourcePort, UdpGid.address(gid));
  }

  /** Caches the last sender: consecutive packets mostly share one. */
  private Gid sourceOf(InetSocketAddress sender) {
    if (!sender.equals(lastSender)) {
      lastSender = sender;
      lastSource = UdpGid.of(sender.getAddress(), Frame.UDP_PORT);
    }
    return lastSource;
  }

  @Override
  public @Nullable UnreachableReports unreachableReports(int flow, Gid of) {
    return flows[flow & FLOWS - 1].unreachableReports(peers.address(of.high(), of.low()));
  }

  /** Returns whether a socket to send from is connected. */
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
      if (waitedFor != null && !tellOfRoom(waitedFor, true)) {
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
        boolean unused = tellOfRoom(waitedFor, false);
      }
    } catch (ClosedSelectorException e) {
      // It was closed meanwhile: there is nothing to wait for.
      return;
    } catch (IOException e) {
      throw new IllegalStateException("select", e);
    }
  }

  /** Returns false if the socket that was waited for is closed: its flow has another one. */
  private boolean tellOfRoom(UdpFlow flow, boolean tell) {
    try {
      flow.tellOfRoom(selector, tell);
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
    public Frame frame() {
      return Frame.direct();
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
    public Outcome send(Frame packet, int to) {
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

    private Outcome send(Frame packet, int to, UdpFlow flow, InetSocketAddress address) {
      try {
        return flow.send(packet.udpPayload(), address, isIdentified(packet, to))
            ? Outcome.SENT
            : Outcome.FULL;
      } catch (IOException e) {
        // Closed, no route, or the kernel's filter: lost, as on any network.
        return Outcome.DROPPED;
      }
    }

    /**
     * Returns whether the receiver may be an RNIC, which checks the IP identification. No RNIC
     * takes packets on another UDP port, nor acknowledges packets from one.
     */
    private boolean isIdentified(Frame packet, int to) {
      return identified
          && to == Frame.UDP_PORT
          && (udpPort == Frame.UDP_PORT || packet.opcode().transport() != Transport.RC);
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
