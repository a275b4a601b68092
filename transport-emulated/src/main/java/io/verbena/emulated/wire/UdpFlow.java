// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A UDP source port from which packets are sent. Its socket is not connected, and has the option
 * {@code IP_DONTFRAGMENT} of JDK 19: only then does Linux send the IP identification 0, which the
 * invariant CRC covers.
 *
 * <p>If the receiver does not check the identification, and many packets in a row go to one
 * address, a second socket of the same port is connected to that address. The kernel then does not
 * look up the route for each packet, which took about 0.3 us.
 */
final class UdpFlow implements AutoCloseable {
  /** Packets in a row to one address after which a socket is connected. */
  static final int ROW = 1024;

  /** The most addresses whose ICMP errors are counted at once. */
  static final int MOST_WATCHES = 64;

  private static final int BUFFER_BYTES = 4 << 20;
  private static final String DO_NOT_FRAGMENT = "IP_DONTFRAGMENT";

  private final InetSocketAddress local;
  private final DatagramChannel channel;
  private final boolean leavesIdentification;
  private @Nullable DatagramChannel connected;
  private @Nullable InetSocketAddress last;
  private final Map<InetSocketAddress, Watch> watches = new HashMap<>();

  /** Where watches read to; direct, as a read to another buffer allocates one. */
  private final ByteBuffer probe = ByteBuffer.allocateDirect(1);

  /** The socket that last had no room for a packet; read by the thread that selects. */
  private volatile @Nullable DatagramChannel full;

  /** The number of packets in a row to {@link #last} that need no identification of 0. */
  private int row;

  UdpFlow(InetAddress address) throws IOException {
    channel = open(address);
    try {
      leavesIdentification = doNotFragment(channel);
      channel.bind(new InetSocketAddress(address, 0));
      // Set after bind: with this option, bind may choose a port that another socket has.
      channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      local = (InetSocketAddress) channel.getLocalAddress();
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  private static DatagramChannel open(InetAddress address) throws IOException {
    DatagramChannel channel = DatagramChannel.open(UdpWire.family(address));
    try {
      channel.configureBlocking(false);
      channel.setOption(StandardSocketOptions.SO_SNDBUF, BUFFER_BYTES);
      return channel;
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  @SuppressWarnings("unchecked") // the only option of that name is a Boolean
  private static boolean doNotFragment(DatagramChannel channel) throws IOException {
    for (SocketOption<?> option : channel.supportedOptions()) {
      if (option.name().equals(DO_NOT_FRAGMENT)) {
        channel.setOption((SocketOption<Boolean>) option, true);
        return true;
      }
    }
    return false;
  }

  int port() {
    return local.getPort();
  }

  /** Returns whether packets that are sent as identified have the IP identification 0. */
  boolean leavesIdentification() {
    return leavesIdentification;
  }

  /**
   * Sends a packet.
   *
   * @param identified whether the receiver checks the IP identification, which then has to be 0
   * @return false if the socket's buffer is full
   */
  boolean send(ByteBuffer bytes, InetSocketAddress to, boolean identified) throws IOException {
    if (identified || !to.equals(last)) {
      last = to;
      row = 0;
      disconnect();
    } else if (connected != null) {
      return write(connected, bytes, to);
    } else if (++row == ROW) {
      connected = connected(to);
    }
    return sent(channel, channel.send(bytes, to));
  }

  private boolean sent(DatagramChannel way, int count) {
    if (count == 0) {
      full = way;
    }
    return count > 0;
  }

  private boolean write(DatagramChannel way, ByteBuffer bytes, InetSocketAddress to)
      throws IOException {
    try {
      return sent(way, way.write(bytes));
    } catch (IOException e) {
      // This is mostly an ICMP error of an earlier packet; the kernel has not sent this packet yet.
      row = 0;
      disconnect();
      return sent(channel, channel.send(bytes, to));
    }
  }

  /**
   * Opens another socket of this port that is connected; returns null if two sockets cannot share a
   * port.
   */
  private @Nullable DatagramChannel connected(InetSocketAddress to) {
    DatagramChannel way = null;
    try {
      way = open(local.getAddress());
      way.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      way.bind(local);
      way.connect(to);
      return way;
    } catch (IOException e) {
      close(way);
      return null;
    }
  }

  /**
   * Returns a counter of the ICMP errors of packets from this port to an address; null if no second
   * socket can be opened, or {@link #MOST_WATCHES} addresses are watched already. Callers with the
   * same address share a counter.
   */
  @Nullable UnreachableReports unreachableReports(InetSocketAddress of) {
    Watch watch = watches.get(of);
    if (watch == null) {
      DatagramChannel socket = watches.size() < MOST_WATCHES ? connected(of) : null;
      if (socket == null) {
        return null;
      }
      watch = new Watch(of, socket);
      watches.put(of, watch);
    }
    watch.holders++;
    return watch;
  }

  /**
   * A connected socket that sends nothing. The kernel reports to it the ICMP errors of packets that
   * the unconnected socket sends to the same destination.
   */
  private final class Watch implements UnreachableReports {
    private final InetSocketAddress of;
    private final DatagramChannel socket;
    private int holders;
    private int count;

    Watch(InetSocketAddress of, DatagramChannel socket) {
      this.of = of;
      this.socket = socket;
    }

    @Override
    public int count() {
      try {
        int unused = socket.read(probe.clear());
      } catch (PortUnreachableException e) {
        count++;
      } catch (IOException e) {
        // The socket was closed with the wire, or the network has another failure, which may pass.
        return count;
      }
      return count;
    }

    @Override
    public void close() {
      if (--holders == 0) {
        watches.remove(of);
        UdpFlow.close(socket);
      }
    }
  }

  /**
   * Registers the full socket with a selector, which wakes up when it has room, or deregisters it.
   * Called by the thread that selects.
   *
   * @throws IOException if that socket was closed and replaced by another one
   */
  void watchForRoom(Selector selector, boolean watch) throws IOException {
    DatagramChannel waitedFor = full;
    if (waitedFor != null) {
      SelectionKey unused = waitedFor.register(selector, watch ? SelectionKey.OP_WRITE : 0);
    }
  }

  boolean isConnected() {
    return connected != null;
  }

  private void disconnect() {
    close(connected);
    connected = null;
  }

  @Override
  public void close() {
    disconnect();
    close(channel);
    watches.values().forEach(watch -> close(watch.socket));
  }

  private static void close(@Nullable DatagramChannel channel) {
    try {
      if (channel != null) {
        channel.close();
      }
    } catch (IOException e) {
      throw new IllegalStateException("close socket", e);
    }
  }
}
